// The reference of the library: the classes that programs use, with what the sources say of each
// member.

import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseSync, Visitor } from "oxc-parser";

const HEAD = `# The library

<!-- Made by \`npm run docs\` from packages/client/src and packages/sluice/src. Do not edit. -->

\`import { Sluice } from "sluice"\`. \`Sluice.open\` and \`Sluice.connect\` give a \`Sluice\`; everything else comes from it:

\`\`\`ts
const mail = await sluice.queue("mail");     // Queue
const job = await mail.add({ to: "a@b.c" }); // Job
const worker = mail.work(async (job) => {}); // Worker, whose handler gets a WorkJob and a HandlerContext
sluice.gate("smtp");                         // Gate
sluice.store("settings");                    // Store
mail.group("batch-7");                       // Group
\`\`\`

All options are in [options](options.md), all errors in [errors](errors.md), the calls that these methods make in
[calls](api.md). Every method that asks the broker takes \`{ signal, timeout }\` among its options; those that change
something also take \`operationId\`. Lists (\`jobs\`, \`lanes\`, \`items\`) are read with \`for await\`.

\`Sluice\`, \`Queue\` and \`Worker\` emit events: \`on(event, listener)\`, \`once\`, \`off\`. A \`Worker\` and a \`Queue\` emit
[\`WorkEvents\`](#workevents), a \`Sluice\` also [\`SluiceEvents\`](#sluiceevents).
`;

interface Place {
  readonly name: string;
  readonly file: string;
}

const PLACES: readonly Place[] = [
  { name: "Sluice", file: "sluice/src/sluice.ts" },
  { name: "SluiceHandles", file: "client/src/sluice-handles.ts" },
  { name: "Queue", file: "client/src/queue.ts" },
  { name: "Job", file: "client/src/job.ts" },
  { name: "WorkJob", file: "client/src/work-job.ts" },
  { name: "WorkContext", file: "client/src/delivery.ts" },
  { name: "HandlerContext", file: "client/src/delivery.ts" },
  { name: "Steps", file: "client/src/steps.ts" },
  { name: "Worker", file: "client/src/worker.ts" },
  { name: "Consumption", file: "client/src/consumption.ts" },
  { name: "WorkEvents", file: "client/src/events.ts" },
  { name: "SluiceEvents", file: "client/src/events.ts" },
  { name: "Gate", file: "client/src/gate.ts" },
  { name: "Schedule", file: "client/src/schedule.ts" },
  { name: "Group", file: "client/src/group.ts" },
  { name: "Store", file: "client/src/store.ts" },
  { name: "RetryAfter", file: "client/src/errors.ts" },
  { name: "Unrecoverable", file: "client/src/errors.ts" },
  { name: "JobFailed", file: "client/src/errors.ts" },
  { name: "FakeClock", file: "protocol/src/fake-clock.ts" },
];

/** `connect` as browsers have it: that of Node takes the same and more. */
const BROWSERS_CONNECT = /\n\n- `static connect\(url: string, options: ConnectOptions.*\n/;

const PACKAGES = join(dirname(import.meta.dirname), "..", "packages");

interface Syntax {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

interface Comment {
  readonly value: string;
  readonly start: number;
  readonly end: number;
}

export function libraryPage(): string {
  return [HEAD, ...PLACES.map(sectionOf)].join("\n").replace(BROWSERS_CONNECT, "\n");
}

function sectionOf({ name, file }: Place): string {
  const text = readFileSync(join(PACKAGES, file), "utf8");
  const { program, comments } = parseSync(file, text);
  const members: string[] = [];
  let about = "";
  const look = (node: unknown): void => {
    const { id, body, start } = node as { id: Syntax | null; body: Syntax; start: number };
    if (id?.name !== name) return;
    const before = text.slice(0, start).endsWith("export ") ? start - "export ".length : start;
    about = commentBefore(before, text, comments);
    const all = (body.body as Syntax[]).filter(
      (member) => !isShadowed(member, body.body as Syntax[]),
    );
    for (const member of all) members.push(...memberOf(member, text, comments));
  };
  new Visitor({ ClassDeclaration: look, TSInterfaceDeclaration: look }).visit(program);
  if (members.length === 0) throw new Error(`${file} has no ${name}`);
  // Two classes for one object: the second has what does not depend on where it runs.
  const title =
    name === "SluiceHandles" ? "" : `## ${name}\n\n${about === "" ? "" : `${about}\n\n`}`;
  return `${title}${members.join("\n")}\n`;
}

/** The implementation below overloads, which callers do not see. */
function isShadowed({ key, value }: Syntax, members: readonly Syntax[]): boolean {
  const { name } = key as Syntax;
  if ((value as Syntax | null | undefined)?.type !== "FunctionExpression") return false;
  return members.some((other) => {
    const { type } = (other.value ?? {}) as Syntax;
    return (other.key as Syntax).name === name && type === "TSEmptyBodyFunctionExpression";
  });
}

function memberOf(member: Syntax, text: string, comments: readonly Comment[]): string[] {
  const key = member.key as Syntax | null;
  const isOpen = key?.type === "Identifier" && (member.accessibility ?? "public") === "public";
  if (!isOpen || member.computed === true || member.kind === "constructor") return [];
  const about = commentBefore(member.start, text, comments);
  if (about.includes("@internal")) return [];
  const value = member.value as Syntax | null | undefined;
  const body = (value?.body ?? null) as Syntax | null;
  const isField = member.type === "PropertyDefinition";
  const end = body?.start ?? (isField && value ? value.start : member.end);
  const signature = text
    .slice(member.start, end)
    .replace(/\s*=\s*$/, "")
    .replace(/^(static )?(?:readonly |async |override )+/, "$1")
    .replace(/\s+/g, " ")
    .replace(/[;\s]+$/, "");
  return [`- \`${signature}\`${about === "" ? "" : `: ${about}`}`];
}

/** The sentences of the comment right above. */
function commentBefore(start: number, text: string, comments: readonly Comment[]): string {
  const above = comments.findLast(
    ({ end }) => end <= start && text.slice(end, start).trim() === "",
  );
  const words = above?.value.replace(/^\*/, "").replace(/^\s*\* ?/gm, " ") ?? "";
  return words.replace(/\s+/g, " ").trim();
}
