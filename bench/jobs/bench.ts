// Finding jobs of all queues, and acting on many of them.

import type { Bench } from "../figure.ts";
import { bulkRetry } from "./bulk-retry.ts";
import { findJobs } from "./find-jobs.ts";

export const jobsBench: Bench = { name: "jobs", groups: [findJobs, bulkRetry] };
