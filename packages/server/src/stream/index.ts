export {
  type Refusal,
  type StreamOptions,
  type StreamServer,
  serveStream,
} from "./serve-stream.ts";
export type { ServerSocket } from "./session.ts";
export { Sessions, type SessionsOptions } from "./sessions.ts";
