import type { BulkItem, JobOptions, Queue, SluiceHandles } from "@sluice/client";
import { SluiceError } from "@sluice/protocol";
import { type Call, type Command, EXIT, Misuse, numberOf, textOf, textsOf } from "../command.ts";
import { lines } from "../lines.ts";
import { connected, TARGET, TARGET_USAGE } from "../target.ts";

/** Jobs that go out together when they are read from standard input. */
const BATCH = 1000;

export const addCommand: Command = {
  name: "add",
  usage: `sluice add QUEUE PAYLOAD     a payload is JSON; prints the job's id when it is durable
sluice add QUEUE -           a job for each line of standard input

  --text                 payloads are texts and not JSON
  --fairness-key KEY     whose job it is (repeat for the levels of a path); --lane for short
  --weight N             the lane's share
  --priority N|NAME      the tier: 0 is the most urgent
  --gate NAME            a limit that it must pass (repeat)
  --cost N               what it takes of its gates (default 1)
  --delay TIME           30s, 5m, 1h: not before
  --ttl TIME             it expires after that
  --max-wait TIME        fail at once when its gates would take longer
  --dedupe KEY           none if one with this key waits or runs
  --group NAME           belongs to this group of the queue, or to OTHER-QUEUE/NAME
  --header NAME=VALUE    (repeat)
  --attempts N           deliveries in all
  --lease TIME           how long it may be held without a sign of life
${TARGET_USAGE}`,
  options: {
    ...TARGET,
    text: { type: "boolean" },
    "fairness-key": { type: "string", multiple: true },
    lane: { type: "string", multiple: true },
    weight: { type: "string" },
    priority: { type: "string" },
    gate: { type: "string", multiple: true },
    cost: { type: "string" },
    delay: { type: "string" },
    ttl: { type: "string" },
    "max-wait": { type: "string" },
    dedupe: { type: "string" },
    group: { type: "string" },
    header: { type: "string", multiple: true },
    attempts: { type: "string" },
    lease: { type: "string" },
  },
  run: async (call) => {
    const [name, payload, ...rest] = call.words;
    if (name === undefined || payload === undefined || rest.length > 0) {
      throw new Misuse("QUEUE and PAYLOAD are needed (quote a payload that has spaces)");
    }
    const options = optionsOf(call);
    const read = (text: string): unknown => payloadOf(call, text);
    const one = payload === "-" ? undefined : { payload: read(payload) };
    return connected(call, async ({ sluice }) => {
      const queue = await openQueue(sluice, name);
      if (one !== undefined) return addOne(call, queue, one.payload, options);
      return addLines(call, queue, read, options);
    });
  },
};

/** Made by its first job, and otherwise left as it is. */
function openQueue(sluice: SluiceHandles, name: string): Promise<Queue> {
  return sluice.queue(name);
}

async function addOne(
  { isJson, output }: Call,
  queue: Queue,
  payload: unknown,
  options: JobOptions,
): Promise<number> {
  const { id, tier, duplicate } = await queue.add(payload, options);
  output.out(isJson ? JSON.stringify({ id, tier, duplicate }) : id);
  return EXIT.well;
}

async function addLines(
  call: Call,
  queue: Queue,
  read: (text: string) => unknown,
  options: JobOptions,
): Promise<number> {
  let refused = 0;
  let number = 0;
  let batch: BulkItem<unknown>[] = [];
  const send = async (): Promise<void> => {
    for (const job of await queue.addBulk(batch)) {
      if (job instanceof SluiceError) refused += 1;
      call.output.out(tell(call, job));
    }
    batch = [];
  };
  for await (const line of lines(call.input)) {
    number += 1;
    if (line.trim() === "") continue;
    try {
      batch.push({ payload: read(line), ...options });
    } catch (error) {
      if (batch.length > 0) await send();
      refused += 1;
      call.output.out(tell(call, badLine(number, error as Misuse)));
    }
    if (batch.length === BATCH) await send();
  }
  if (batch.length > 0) await send();
  return refused === 0 ? EXIT.well : EXIT.wrong;
}

/** A line that is not read is refused alone, in its place among the answers. */
function badLine(number: number, { message }: Misuse): SluiceError {
  return new SluiceError("INVALID", `line ${number}: ${message}`, { field: "payload" });
}

function tell({ isJson }: Call, job: { id: string } | SluiceError): string {
  if (job instanceof SluiceError) {
    return isJson ? JSON.stringify({ error: job.toJSON() }) : `${job.code}: ${job.message}`;
  }
  return isJson ? JSON.stringify({ id: job.id }) : job.id;
}

function payloadOf(call: Call, text: string): unknown {
  if (call.values.text === true) return text;
  try {
    return JSON.parse(text);
  } catch {
    const start = JSON.stringify(text.slice(0, 40));
    throw new Misuse(`a payload is JSON, got ${start}; use --text to send it as text`);
  }
}

function optionsOf(call: Call): JobOptions {
  const key = [...textsOf(call, "fairness-key"), ...textsOf(call, "lane")];
  const gates = textsOf(call, "gate");
  const headers = textsOf(call, "header");
  const dedupe = textOf(call, "dedupe");
  const options = {
    fairnessKey: key.length > 1 ? key : key[0],
    weight: numberOf(call, "weight"),
    priority: priorityOf(textOf(call, "priority")),
    gates: gates.length === 0 ? undefined : gates,
    cost: numberOf(call, "cost"),
    delay: textOf(call, "delay"),
    ttl: textOf(call, "ttl"),
    maxWait: textOf(call, "max-wait"),
    dedupe: dedupe === undefined ? undefined : { key: dedupe, mode: "pending" },
    group: textOf(call, "group"),
    headers: headers.length === 0 ? undefined : Object.fromEntries(headers.map(headerOf)),
    attempts: numberOf(call, "attempts"),
    lease: textOf(call, "lease"),
  };
  const said = Object.entries(options).filter(([, value]) => value !== undefined);
  // Durations and names are checked where every job's are.
  return Object.fromEntries(said) as JobOptions;
}

function priorityOf(text: string | undefined): string | number | undefined {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : text;
}

function headerOf(text: string): [name: string, value: string] {
  const cut = text.indexOf("=");
  if (cut < 1) throw new Misuse(`--header must be NAME=VALUE, got ${JSON.stringify(text)}`);
  return [text.slice(0, cut), text.slice(cut + 1)];
}
