/**
 * What an app shows of itself on the dashboard: figures, tables and charts, and what can be done.
 * The page is data; how it looks is the dashboard's business.
 */
import type { AppDone, AppView } from "@sluice/protocol";

export type {
  AppAction,
  AppDone,
  AppField,
  AppRowAction,
  AppSection,
  AppTimeline,
  AppTone,
  AppValue,
  AppView,
} from "@sluice/protocol";

export interface AppPage {
  /** Part of the page's address: letters, digits, dots and dashes. */
  name: string;
  title: string;
  /** Called each time that the page is read. `show` is what an action asked to show. */
  view(show?: string): AppView | Promise<AppView>;
  /** Does one of the view's actions; answers a sentence that says what was done. */
  act?(action: string, values: Record<string, string>): Promise<string | AppDone>;
}
