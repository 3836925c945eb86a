/** What an app needs to be reached over HTTP, to reach others, and to be shown on the dashboard. */
export type { AppAction, AppPage, AppSection, AppTone, AppView } from "@sluice/server";
export {
  type Chooser,
  callOutside,
  isPublicAddress,
  type OutgoingAnswer,
  OutgoingError,
  type OutgoingOptions,
  type OutgoingReason,
} from "@sluice/server";
