import { type Command, EXIT, textOf, wholeOf, wordsOf } from "../command.ts";
import { printable, table, time } from "../show.ts";
import { http, TARGET, TARGET_USAGE } from "../target.ts";

interface Entry {
  readonly at: number;
  readonly who: string;
  readonly name?: string;
  readonly via: string;
  readonly action: string;
  readonly on: string;
  readonly detail: string;
  readonly times: number;
  readonly refused?: number;
  readonly error?: string;
}

const LIMIT = 50;

export const auditCommand: Command = {
  name: "audit",
  usage: `sluice audit                  who did what and when, the newest first; needs admin on *

  --search TEXT          part of who, what or on what
  --limit N              how many entries (default ${LIMIT})
  --cursor CURSOR        continue after the page that gave it
${TARGET_USAGE}`,
  options: {
    ...TARGET,
    search: { type: "string" },
    limit: { type: "string" },
    cursor: { type: "string" },
  },
  run: async (call) => {
    wordsOf(call.words);
    const query = new URLSearchParams({ limit: String(wholeOf(call, "limit", 1) ?? LIMIT) });
    const text = textOf(call, "search");
    const from = textOf(call, "cursor");
    if (text !== undefined) query.set("text", text);
    if (from !== undefined) query.set("cursor", from);
    const path = `GET /v1/audit?${query}`;
    const { items, cursor } = await http<{ items: readonly Entry[]; cursor?: string }>(call, path);
    if (call.isJson) {
      for (const entry of items) call.output.out(JSON.stringify(entry));
    } else if (items.length === 0) call.output.out("no entries");
    else call.output.out(table(["time", "who", "by", "action", "on", ""], items.map(rowOf)));
    if (cursor !== undefined) call.output.progress.write(`more: --cursor ${cursor}\n`);
    return EXIT.well;
  },
};

function rowOf({ at, who, name, via, action, on, detail, ...rest }: Entry): string[] {
  const { times, refused: count = times, error } = rest;
  const repeated = times > 1 ? `${times} times ` : "";
  const some = count < times ? ` ${count} times` : "";
  const refused = error === undefined ? "" : `refused${some}: ${error}`;
  const more = printable([repeated, detail, refused].filter((part) => part !== "").join(" "));
  return [time(at), printable(name ?? who), via, action, printable(on), more];
}
