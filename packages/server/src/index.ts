export type * from "./app-page.ts";
export type { Action, Grant } from "./keys/grant.ts";
export { guard } from "./keys/guard.ts";
export type { CreatedKey, KeyInfo } from "./keys/key-ring.ts";
export type { Principal } from "./keys/principal.ts";
export type { Limits } from "./limits.ts";
export { type RunningServer, type ServeOptions, type StreamDoor, serve } from "./serve.ts";
export type { TlsOptions } from "./shell/listener.ts";
export type { LogLevel, LogOptions } from "./shell/log.ts";
