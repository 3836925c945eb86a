/**
 * What an app shows of itself on the dashboard: figures, tables and charts, and what can be done.
 * The page is data; how it looks is the dashboard's business.
 */

export interface AppPage {
  /** Part of the page's address: letters, digits, dots and dashes. */
  name: string;
  title: string;
  /** Asked for each time that somebody looks. */
  view(): AppView | Promise<AppView>;
  /** Does one of the view's actions; answers a sentence that says what was done. */
  act?(action: string, values: Record<string, string>): Promise<string>;
}

export interface AppView {
  sections: AppSection[];
  actions?: AppAction[];
}

export type AppTone = "good" | "warn" | "bad";

export type AppSection =
  | {
      kind: "facts";
      title: string;
      facts: { label: string; value: string | number; tone?: AppTone }[];
    }
  | { kind: "table"; title: string; columns: string[]; rows: (string | number)[][] }
  | {
      kind: "chart";
      title: string;
      unit?: string;
      series: { label: string; points: [timeMs: number, value: number][] }[];
    };

export interface AppAction {
  name: string;
  title: string;
  /** Asked before it is done. */
  confirm?: string;
  fields?: { name: string; label: string; value?: string }[];
}
