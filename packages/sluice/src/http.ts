/** What an app needs to be reached over HTTP, to reach others, and to be shown on the dashboard. */
export type { LimitSettings } from "@sluice/protocol";
export {
  type AppAction,
  type AppDone,
  type AppField,
  type AppPage,
  type AppParts,
  type AppRowAction,
  type AppSection,
  type AppTimeline,
  type AppTone,
  type AppValue,
  type AppView,
  FixedKeys,
  type HttpApp,
  type LogLevel,
  type LogOptions,
  type Readiness,
  type RunningApp,
  type ServeAppOptions,
  serveApp,
  shapes,
  type TlsOptions,
} from "@sluice/server";
export { isPublicAddress } from "./outgoing/addresses.ts";
export { callOutside, type OutgoingAnswer, type OutgoingOptions } from "./outgoing/call.ts";
export { OutgoingError, type OutgoingReason } from "./outgoing/errors.ts";
export type { Chooser } from "./outgoing/target.ts";
