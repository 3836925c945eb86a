/** The systems that ship on Sluice. Each reads its own words, and is a package of its own. */
import { needs } from "@sluice/protocol";
import type { Command, CommandEntry } from "../command.ts";

type Main = (args: readonly string[]) => Promise<number>;
type Load = () => Promise<{ main: Main }>;

function app(name: string, summary: string, load: Load): CommandEntry {
  const command: Command = {
    name,
    usage: `sluice ${name} --help lists its own options`,
    run: async ({ words }) => {
      const { main } = await needs(`sluice ${name}`, [`@sluice/${name}`], load);
      return main(words);
    },
  };
  return { name, summary, load: async () => command };
}

export const APP_ENTRIES: readonly CommandEntry[] = [
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
