import { readFileSync } from "node:fs";
import type { BulkItem, JobOptions, Queue, SluiceHandles } from "@sluice/client";
import { SluiceError } from "@sluice/protocol";
import { type Call, type Command, EXIT, Misuse } from "../command.ts";
import { JOB_FLAGS, JOB_USAGE, jobOptionsOf } from "../job-flags.ts";
import { lines } from "../lines.ts";
import { connected, TARGET, TARGET_USAGE } from "../target.ts";

/** Jobs that go out together when they are read from standard input. */
const BATCH = 1000;

export const addCommand: Command = {
  name: "add",
  usage: `sluice add QUEUE PAYLOAD     a payload is JSON; prints the job's id when it is durable
sluice add QUEUE @FILE       the payload is what the file holds
sluice add QUEUE -           a job for each line of standard input

  --create               make the queue if it does not exist
  --text                 payloads are texts and not JSON
${JOB_USAGE}
${TARGET_USAGE}`,
  options: {
    ...TARGET,
    create: { type: "boolean" },
    text: { type: "boolean" },
    ...JOB_FLAGS,
  },
  run: async (call) => {
    const [name, payload, ...rest] = call.words;
    if (name === undefined || payload === undefined || rest.length > 0) {
      throw new Misuse("QUEUE and PAYLOAD are needed (quote a payload that has spaces)");
    }
    const options = jobOptionsOf(call);
    const read = (text: string): unknown => payloadOf(call, text);
    const one = payload === "-" ? undefined : { payload: read(fromFile(payload)) };
    return connected(call, async ({ sluice }) => {
      const queue = await openQueue(sluice, name, call.values.create === true);
      if (one !== undefined) return addOne(call, queue, one.payload, options);
      return addLines(call, queue, read, options);
    });
  },
};

/** A name with a slip must not become a second queue that has no workers. */
async function openQueue(sluice: SluiceHandles, name: string, create: boolean): Promise<Queue> {
  try {
    return await sluice.queue(name, { create });
  } catch (error) {
    if (!(error instanceof SluiceError) || error.code !== "QUEUE_NOT_FOUND") throw error;
    const message = `${error.message}: check the name, or make the queue with --create`;
    throw new SluiceError(error.code, message, error.details);
  }
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

/** `@FILE` is what the file holds; JSON never begins so. */
function fromFile(text: string): string {
  if (!text.startsWith("@")) return text;
  try {
    return readFileSync(text.slice(1), "utf8");
  } catch (error) {
    const message = `cannot read the payload: ${(error as Error).message}`;
    throw new Misuse(`${message}. Give a text that begins with @ on standard input`);
  }
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
