export { DEPENDENCY, FLOW_ADDED, FLOW_JOB, FLOW_OPENED } from "./flow.ts";
export { BULK, FAILURES, FOUND_JOBS, JOB_COUNTS } from "./found.ts";
export { GATE, GATES } from "./gate.ts";
export { ACK, EXTEND, LOGGED, NACK, PROGRESS, STEP_RESULT, STEPS, SUSPENSION } from "./held.ts";
export {
  ADDED,
  ATTEMPT,
  END,
  GROUP_INFO,
  HISTORY_ENTRY,
  JOB,
  JOB_STATE,
  LEASED,
  LIFE,
  LOG_LINE,
  NEW_JOB,
  WHY,
} from "./job.ts";
export { DELETED, LANE, QUEUE, WORKER } from "./queue.ts";
export { RUN_NOW, SCHEDULE } from "./schedule.ts";
export * from "./schema.ts";
export { STATS } from "./stats.ts";
export { ENTRY } from "./store.ts";
