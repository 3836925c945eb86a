// The job server: submissions under an open load, the same beside handlers that compute, and what
// it costs that handlers run in threads.

import type { Bench } from "../figure.ts";
import { computingGroups } from "./computing.ts";
import { smallGroups } from "./small-handlers.ts";
import { submissionGroups } from "./submissions.ts";

export const jobserverBench: Bench = {
  name: "jobserver",
  groups: [...submissionGroups, ...computingGroups, ...smallGroups],
};
