// The reference of the API: every call, as its row describes it.

import { CALL_TABLES, type CallRow, type Kind, type Right, type Subject } from "@sluice/protocol";
import { ShapeTexts } from "./shape-text.ts";

const HEAD = `# The calls of the API

<!-- Made by \`npm run docs\` from packages/protocol/src/calls. Do not edit. -->

Every call of the broker: its arguments, who may make it, whether it can be repeated, and its route
over HTTP. \`Queue\`, \`Worker\`, \`Gate\`, \`Store\` and \`Group\` of the library are made of these calls;
\`sluice.broker\` makes them directly, \`sluice call NAME ARGUMENT ...\` from a shell. In the library
every call takes \`{ signal, timeout }\` as its last argument, beside the options below.

Over HTTP an argument is in the path where the route has its name, else a field of the body, or of the
query of a GET or DELETE; options are too. A list in a query is one text with commas. A call that takes
a batch answers \`{ results: [...] }\`, each item with its own \`error\` when it was refused; a list
answers \`{ items, cursor }\`. A refusal is \`{ error: { code, message } }\` with the status of its code.

*Under an operation id*: such a call takes \`operationId\` among its options, over HTTP the header
\`Idempotency-Key\`. A repetition with the same id gets the first answer, for ten minutes.
\`/openapi.json\` of a server describes all routes, with those that are no calls of the broker.

Not in the table are \`lease\` (\`POST /v1/queues/:queue/lease\`), \`consume\` (over the
[stream](../protocol.md)) and \`events\` (\`GET /v1/events\`).
`;

const ON: Readonly<Record<Subject, string>> = {
  job: "the queue of the job",
  group: "the queue of the group",
  queue: "the queue",
  gate: "everything",
  store: "a queue of the store's name",
  broker: "everything",
};

const REPEATS: Readonly<Record<CallRow["repeat"], string>> = {
  read: "It changes nothing.",
  again: "It can be repeated.",
  once: "Under an operation id it takes effect once.",
};

export function apiPage(): string {
  const shapes = new ShapeTexts();
  const parts = Object.entries(CALL_TABLES).map(([title, calls]) => {
    const texts = Object.entries(calls).map(([name, row]) => callText(name, row, shapes));
    return `## ${title}\n\n${texts.join("\n")}`;
  });
  return `${HEAD}\n${parts.join("\n")}\n## Shapes\n\nAs JSON carries them, over HTTP and on the stream.\n\n${shapes.named()}`;
}

function callText(name: string, row: CallRow, shapes: ShapeTexts): string {
  const args = row.args.map((one) => (one.isOptional ? `${one.name}?` : one.name));
  const options = Object.entries(row.options);
  const last = options.length > 0 || row.repeat === "once" ? ["options?"] : [];
  const lines = [
    `### ${name}`,
    "",
    `\`${name}(${[...args, ...last].join(", ")})\``,
    "",
    row.says,
    "",
    ...row.args.map((one) => `- \`${one.name}\`: ${kindText(one.kind, shapes)}`),
    ...options.map(([option, kind]) => `- option \`${option}\`: ${kindText(kind, shapes)}`),
    `- Who: ${rightText(row.may, row.about)}. ${REPEATS[row.repeat]}`,
    ...(row.http === undefined ? [] : [`- HTTP: \`${row.http.route}\``]),
    `- Answers: ${answerText(row, shapes)}`,
    "",
  ];
  return lines.join("\n");
}

/** A batch or options by their shape, another value in words; and what it means. */
function kindText({ schema, words }: Kind, shapes: ShapeTexts): string {
  const hasShape = schema.type === "array" || shapes.isNamed(schema);
  const value = hasShape ? `\`${shapes.of(schema)}\`` : words;
  return schema.description === undefined ? value : `${value}. ${schema.description}`;
}

function rightText(may: Right, about: Subject): string {
  switch (may) {
    case "key":
      return "any valid key";
    case "any":
      return `any right on ${ON[about]}`;
    case "either":
      return `\`produce\` or \`consume\` on ${ON[about]}`;
    case "cool":
      return "a grant with this gate in its `gates`, or `admin` on everything";
    default:
      return `\`${may}\` on ${ON[about]}`;
  }
}

function answerText({ answer, each, waits }: CallRow, shapes: ShapeTexts): string {
  const when = waits ? ", when that has happened" : "";
  if (answer === undefined) return each ? "for each item, that it is done" : "nothing";
  return `${each ? "for each item, " : ""}\`${shapes.of(answer)}\`${when}`;
}
