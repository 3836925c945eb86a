export type * from "./app-page.ts";
export {
  type Refusal,
  type StreamOptions,
  type StreamServer,
  serveStream,
} from "./stream/serve-stream.ts";
