/** The systems that ship on Sluice. Each reads its own words, and is loaded only when it is run. */
import type { Call, Command } from "../command.ts";

type Main = (args: readonly string[], env: Call["env"]) => Promise<number>;

function app(name: string, summary: string, load: () => Promise<{ main: Main }>): Command {
  return {
    name,
    summary,
    usage: `sluice ${name} --help tells its own options`,
    run: async ({ words, env }) => (await load()).main(words, env),
  };
}

export const appCommands: readonly Command[] = [
  app(
    "jobserver",
    "a job server over HTTP, preferred submitters first",
    () => import("@sluice/jobserver"),
  ),
];
