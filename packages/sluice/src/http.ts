/** What an app needs to be reached over HTTP and to be shown on the dashboard. */
export {
  type AppAction,
  type AppPage,
  type AppParts,
  type AppSection,
  type AppTone,
  type AppView,
  FixedKeys,
  type HttpApp,
  type Limits,
  type LogLevel,
  type LogOptions,
  type Readiness,
  type RunningApp,
  type ServeAppOptions,
  serveApp,
  type TlsOptions,
} from "@sluice/server";
