export { GATE, GATES } from "./gate.ts";
export { ACK, EXTEND, NACK, PROGRESS } from "./held.ts";
export {
  ADDED,
  END,
  GROUP_INFO,
  HISTORY_ENTRY,
  JOB,
  JOB_STATE,
  LEASED,
  NEW_JOB,
  WHY,
} from "./job.ts";
export { DELETED, LANE, QUEUE, WORKER } from "./queue.ts";
export * from "./schema.ts";
export { STATS } from "./stats.ts";
export { ENTRY } from "./store.ts";
