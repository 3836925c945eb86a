/** The systems that ship on Sluice. Each reads its own words, and is loaded only when it is run. */
import type { Command } from "../command.ts";

type Main = (args: readonly string[]) => Promise<number>;

function app(name: string, summary: string, load: () => Promise<{ main: Main }>): Command {
  return {
    name,
    summary,
    usage: `sluice ${name} --help tells its own options`,
    run: async ({ words }) => (await load()).main(words),
  };
}

export const appCommands: readonly Command[] = [
  app(
    "retracker",
    "a BitTorrent tracker that announces to others",
    () => import("@sluice/retracker"),
  ),
  app("torznab", "one search service over many Torznab indexers", () => import("@sluice/torznab")),
  app(
    "jobserver",
    "a job server over HTTP, preferred submitters first",
    () => import("@sluice/jobserver"),
  ),
];
