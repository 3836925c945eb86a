// The reference of the command line: the usage of every command, as the command prints it.

import { execFileSync } from "node:child_process";
import { dirname, join } from "node:path";

const HEAD = `# Command line

<!-- Made by \`npm run docs\` from what \`sluice help all\` prints. Do not edit. -->

\`npx sluice COMMAND --help\` prints the same. \`--json\` prints JSON for scripts, one value or one on each line.
Exit codes: 0 success, 1 failure, 2 wrong usage, 3 the server cannot be reached, 70 a bug.
`;

interface Told {
  readonly name: string;
  readonly summary: string;
  readonly usage: string;
}

export function cliPage(): string {
  const root = join(dirname(import.meta.dirname), "..");
  const program = join(root, "packages", "cli", "src", "main.ts");
  const printed = execFileSync(process.execPath, [program, "help", "all", "--json"]);
  const commands: readonly Told[] = JSON.parse(printed.toString());
  const rows = commands.map(
    ({ name, summary }) => `| [\`sluice ${name}\`](#sluice-${name}) | ${summary} |`,
  );
  const sections = commands.map(
    ({ name, usage }) => `## sluice ${name}\n\n~~~\n${usage.trim()}\n~~~\n`,
  );
  return [HEAD, "| command | |", "|---|---|", ...rows, "", ...sections].join("\n");
}
