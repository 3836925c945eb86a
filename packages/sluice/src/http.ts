/** What an app needs to be reached over HTTP and to be shown on the dashboard. */
export type { AppAction, AppPage, AppSection, AppTone, AppView } from "@sluice/server";
