export { main } from "./command.ts";
export { type Config, readConfig } from "./config.ts";
export type { JobContext, JobHandler, JobHandlers } from "./handlers/handler.ts";
export { createJobServer, type JobServerOptions, type RunningJobServer } from "./serve.ts";
export { keepPausesShort } from "./short-pauses.ts";
