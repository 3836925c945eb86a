// Jobs that wait for other jobs, jobs in steps, and schedules.

import type { Bench } from "../figure.ts";
import { blockedMemory } from "./blocked-memory.ts";
import { bullmqFlows } from "./bullmq.ts";
import { fanIn } from "./fan-in.ts";
import { jobSchedulers } from "./job-schedulers.ts";
import { schedulesDue } from "./schedules-due.ts";
import { steps } from "./steps.ts";

export const flowsBench: Bench = {
  name: "flows",
  groups: [blockedMemory, fanIn, steps, bullmqFlows, schedulesDue, jobSchedulers],
};
