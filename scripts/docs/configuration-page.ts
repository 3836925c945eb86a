// The reference of the configuration: every option of `sluice serve`, by flag, variable and file.

import { flagOf, type Parts, SERVER_OPTIONS, variableOf } from "@sluice/protocol";
import { cell, defaultOf, wordsOf } from "./option-cells.ts";

const HEAD = `# Configuration of a server

<!-- Made by \`npm run docs\` from packages/protocol/src/options. Do not edit. -->

Every option of \`sluice serve\`. Each can be given in three places; the first one that names it counts:

1. a flag: \`--adds-per-second 1000\`. A list is written with commas, or its flag is repeated;
2. a variable of the environment: \`SLUICE_ADDS_PER_SECOND=1000\`;
3. a file of YAML, named by \`--config FILE\` or \`SLUICE_CONFIG\`, with the names of the first column:

\`\`\`yaml
dir: /var/lib/sluice
port: 7070
keys: true
allowHosts: [jobs.example.org]
addsPerSecond: 1000
\`\`\`

An unknown name is refused in flags and in the file. A *duration* is a number of milliseconds or a text such as
\`"30s"\`. Settings of queues, gates and jobs are [options](options.md) of calls; a server has no file for them.

| option | flag, variable | value | default | |
|---|---|---|---|---|
`;

export function configurationPage(): string {
  const rows = Object.entries(SERVER_OPTIONS as Parts).map(([name, row]) => {
    const names = `\`--${flagOf(name)}\`, \`${variableOf(name)}\``;
    const value = `${cell(wordsOf(row.kind))} | ${cell(defaultOf(row))} | ${cell(row.text)}`;
    return `| \`${name}\` | ${names} | ${value} |`;
  });
  return `${HEAD}${rows.join("\n")}\n`;
}
