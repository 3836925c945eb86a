export type * from "./app-page.ts";
export type * from "./cluster-door.ts";
export type { OwnPart, Readiness } from "./health.ts";
export type { Action, Grant } from "./keys/grant.ts";
export { guard } from "./keys/guard.ts";
export type { CreatedKey, KeyInfo, KeyPeers } from "./keys/key-ring.ts";
export type { KeyChange, NewKey } from "./keys/new-key.ts";
export type { Principal } from "./keys/principal.ts";
export { FixedKeys } from "./keys/principal.ts";
export type { ServerKeys } from "./keys/server-keys.ts";
export { type Dashboard, mountDashboard } from "./mount/mount.ts";
export type { DashboardOptions, Role } from "./mount/options.ts";
export * as shapes from "./routes/shapes.ts";
export { type RunningServer, type ServeOptions, type StreamDoor, serve } from "./serve.ts";
export {
  type AppParts,
  type HttpApp,
  type RunningApp,
  type ServeAppOptions,
  serveApp,
} from "./serve-app.ts";
export type { TlsOptions } from "./shell/listener.ts";
export type { LogLevel, LogOptions } from "./shell/log.ts";
export type {
  OpenWebhookSender,
  WebhookMessage,
  WebhookSender,
} from "./webhooks/sender.ts";
export type { WebhookInfo } from "./webhooks/webhook.ts";
