import {
  type Call,
  type Command,
  EXIT,
  Misuse,
  tell,
  textOf,
  textsOf,
  wordsOf,
} from "../command.ts";
import { counted, printable, table, time } from "../show.ts";
import { http, TARGET, TARGET_USAGE } from "../target.ts";
import { eventsOf } from "./events.ts";

interface WebhookInfo {
  readonly id: string;
  readonly url: string;
  readonly name: string;
  readonly events: readonly string[];
  readonly queues: readonly string[];
  readonly states?: readonly string[];
  readonly createdAt: number;
  readonly stopped?: string;
  readonly dropped?: { readonly count: number; readonly lastAt: number };
}

const VERBS = ["list", "create", "test", "delete"];

export const webhooksCommand: Command = {
  name: "webhooks",
  verbs: VERBS,
  usage: `sluice webhooks [list]
sluice webhooks create URL             the secret that signs its messages is printed this once
sluice webhooks test ID                sends a message of type "test"
sluice webhooks delete ID              its waiting messages are dropped

  --event NAME           the events to send, as \`sluice events\` names them (repeat; default dead)
  --state STATE          of jobs that ended: only finished, failed, cancelled or expired (repeat)
  --queue NAME           only of this queue, or of a prefix* (repeat; default all)
  --name TEXT            a name to recognise it by
${TARGET_USAGE}`,
  options: {
    ...TARGET,
    event: { type: "string", multiple: true },
    state: { type: "string", multiple: true },
    queue: { type: "string", multiple: true },
    name: { type: "string" },
  },
  run: async (call) => {
    const [verb = "list", ...rest] = call.words;
    if (verb === "list") return list(call);
    if (verb === "create") return create(call, wordsOf(rest, "URL")[0]);
    if (verb !== "test" && verb !== "delete") {
      throw new Misuse(`"${verb}" is not one of ${VERBS.join(", ")}`);
    }
    const [id] = wordsOf(rest, "ID");
    const path = `/v1/webhooks/${encodeURIComponent(id)}`;
    if (verb === "delete") {
      await http(call, `DELETE ${path}`);
      return tell(call, { deleted: id }, () => `${id} is deleted`);
    }
    const { job } = await http<{ job: string }>(call, `POST ${path}/test`);
    return tell(call, { job }, () => `the message is job ${job}: see \`sluice job ${job}\``);
  },
};

async function list(call: Call): Promise<number> {
  const { items } = await http<{ items: readonly WebhookInfo[] }>(call, "GET /v1/webhooks");
  if (items.length === 0 && !call.isJson) {
    call.output.out("no webhooks yet: `sluice webhooks create URL` makes one");
    return EXIT.well;
  }
  const rows = items.map(({ id, name, url, events, states = [], queues, createdAt }) => [
    id,
    printable(name),
    printable(url),
    [...events, ...states].join(" "),
    queues.join(" "),
    time(createdAt),
  ]);
  const headings = ["webhook", "name", "address", "events", "queues", "made"];
  const notes = items.flatMap(notesOf).map((note) => `\n${note}`);
  return tell(call, items, () => table(headings, rows) + notes.join(""));
}

/** What a person has to know of a webhook that misses messages. */
function notesOf({ id, stopped, dropped }: WebhookInfo): string[] {
  const notes = stopped === undefined ? [] : [`${id} has stopped: ${printable(stopped)}`];
  if (dropped === undefined) return notes;
  const { count, lastAt } = dropped;
  const lost = `${counted(count, "message")} dropped because too many waited`;
  return [...notes, `${id}: ${lost}, the last at ${time(lastAt)}`];
}

async function create(call: Call, url: string): Promise<number> {
  const lists = [
    ["events", eventsOf(call)],
    ["states", textsOf(call, "state")],
    ["queues", textsOf(call, "queue")],
  ] as const;
  const name = textOf(call, "name");
  const created = await http<WebhookInfo & { secret: string }>(call, "POST /v1/webhooks", {
    url,
    ...(name === undefined ? {} : { name }),
    ...Object.fromEntries(lists.filter(([, values]) => values.length > 0)),
  });
  if (!call.isJson) {
    call.output.progress.write(`webhook ${created.id}: its secret is not shown again\n`);
  }
  return tell(call, created, () => created.secret);
}
