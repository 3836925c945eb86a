export { type Config, type LogLevel, readConfig, type TierSize } from "./config.ts";
export type { JobContext, JobHandler, JobHandlers } from "./handlers/handler.ts";
export { loadHandlers } from "./handlers/load.ts";
export { shippedHandlers } from "./handlers/shipped.ts";
export { type JobAdded, type JobResult, JobServer } from "./job-server.ts";
export type { Log } from "./log.ts";
export { page } from "./page.ts";
