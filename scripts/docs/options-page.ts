// The reference of the options: every table, as its rows describe it.

import {
  CLOSE_OPTIONS,
  CONSUME_OPTIONS,
  GATE_OPTIONS,
  JOB_OPTIONS,
  type Kind,
  OPEN_OPTIONS,
  type Parts,
  POLICY_OPTIONS,
  QUEUE_OPTIONS,
  SCHEDULE_OPTIONS,
  WORK_OPTIONS,
} from "@sluice/protocol";
import { cell, defaultOf, wordsOf } from "./option-cells.ts";

const HEAD = `# Options

<!-- Made by \`npm run docs\` from packages/protocol/src/options. Do not edit. -->

One option has one name in the library, over HTTP and the stream, in the CLI and in answers. A
*duration* is a number of milliseconds or a text such as \`"250ms"\`, \`"30s"\`, \`"5m"\`, \`"1.5h"\` or
\`"2d"\`; answers have milliseconds. An answer can be given again: the settings that \`info()\` or a GET
answers are options of \`queue\` and \`set\`. There \`null\` says that a part is switched off.
Options of the server are in [configuration](configuration.md).
`;

const TABLES: Readonly<Record<string, readonly [about: string, rows: Parts]>> = {
  Jobs: [
    "`queue.add(payload, options)`, items of `addBulk`, `POST /v1/queues/:queue/jobs`.",
    JOB_OPTIONS,
  ],
  Queues: [
    "`sluice.queue(name, options)`, `PUT /v1/queues/:queue`, `sluice queue set QUEUE name=value`. " +
      "What is not given keeps its value; a new queue has the defaults. In the library `retry` may " +
      "be or have a function (`rule`), `policy` may have functions, and `schema`, `result` and " +
      "`codec` stay with the handle.",
    QUEUE_OPTIONS,
  ],
  Policies: ["The `policy` of a queue; [how policies work](../policies.md).", POLICY_OPTIONS],
  Schedules: [
    "`sluice.schedule(name, { queue, ...options })`, `PUT /v1/queues/:queue/schedules/:schedule`, " +
      "`sluice schedule set NAME queue=QUEUE name=value`. They are replaced as a whole; " +
      "[how schedules work](../schedules.md).",
    SCHEDULE_OPTIONS,
  ],
  Gates: [
    "`sluice.gate(key).set(options)`, `PUT /v1/gates/:key`, `sluice gate set KEY name=value`. The " +
      "limits are replaced as a whole.",
    GATE_OPTIONS,
  ],
  Workers: ["`queue.work(handler, options)`.", WORK_OPTIONS],
  Consumptions: ["`queue.consume(options)`.", CONSUME_OPTIONS],
  Closing: ["`close(options)` of `Sluice`, `Worker` and `Consumption`.", CLOSE_OPTIONS],
  Opening: ["`Sluice.open(options)`.", OPEN_OPTIONS],
};

const COLUMNS = "| option | value | default | |\n|---|---|---|---|";

export function optionsPage(): string {
  const parts = Object.entries(TABLES).map(([title, [about, rows]]) => {
    const lines = Object.entries(rows).flatMap(([name, row]) => rowsOf(name, row));
    return `## ${title}\n\n${about}\n\n${COLUMNS}\n${lines.join("\n")}\n`;
  });
  return `${HEAD}\n${parts.join("\n")}`;
}

// A field of an object is named with its parent. The policy has a table of its own.
function rowsOf(name: string, row: Parts[string]): string[] {
  const { kind, text } = row;
  const line = `| \`${name}\` | ${cell(wordsOf(kind))} | ${cell(defaultOf(row))} | ${cell(text)} |`;
  if (name === "policy" || kind.parts === undefined) return [line];
  const inner = kind.schema.type === "array" || isListed(kind) ? `${name}[]` : name;
  return [
    line,
    ...Object.entries(kind.parts).flatMap(([part, of]) => rowsOf(`${inner}.${part}`, of)),
  ];
}

function isListed({ schema }: Kind): boolean {
  const forms = (schema.anyOf ?? []) as readonly { type?: string }[];
  return forms.some(({ type }) => type === "array");
}
