/**
 * The rare calls of the port: the name of the call and its arguments as JSON, and the answer as
 * JSON. Bytes in an answer (payloads and results of jobs) follow the JSON as blobs, in the order in
 * which they are named; in their place stands the number of the blob.
 */
import type { BrokerEvent } from "../event.ts";
import type { FrameReader } from "./reader.ts";
import type { FrameWriter } from "./writer.ts";

/** Calls that travel so, and where bytes may stand in their answers. */
const CALLS = {
  progress: "none",
  cancel: "none",
  cancelByKey: "none",
  retry: "none",
  job: "one",
  why: "none",
  history: "none",
  queuesOf: "holes",
  ended: "one",
  jobs: "items",
  group: "none",
  groupEnded: "none",
  releaseGroups: "none",
  setQueue: "none",
  deleteQueue: "none",
  queue: "none",
  queues: "none",
  purge: "none",
  redrive: "none",
  lanes: "none",
  setLaneWeight: "none",
  workers: "none",
  setGate: "none",
  deleteGate: "none",
  gate: "none",
  gates: "none",
  cooldown: "none",
  clearCooldown: "none",
  reportGate: "none",
  storeGet: "holes",
  storeWrite: "none",
  storeScan: "none",
  stats: "none",
  lend: "none",
} as const;

export type CallName = keyof typeof CALLS;

export interface Call {
  name: CallName;
  args: unknown[];
}

const ARGS_MAX = 4;

/** Fields that hold bytes, in a job and in the end of one. */
const BYTES = ["payload", "result"] as const;

/** Blobs of one answer: two for each job of the longest page. */
const BLOBS_MAX = 2000;

export function writeCall(writer: FrameWriter, name: CallName, args: readonly unknown[]): void {
  writer.short(name);
  writer.json(args);
}

export function readCall(reader: FrameReader): Call {
  const name = reader.short();
  if (!Object.hasOwn(CALLS, name)) reader.fail(`an unknown call ${JSON.stringify(name)}`);
  const args = reader.json();
  if (!Array.isArray(args) || args.length > ARGS_MAX) return reader.fail("JSON of no arguments");
  // JSON has no place for what is absent before what is not.
  return { name: name as CallName, args: args.map((arg) => (arg === null ? undefined : arg)) };
}

export function writeAnswer(writer: FrameWriter, name: CallName, answer: unknown): void {
  const blobs: Uint8Array[] = [];
  writer.json({ answer: withoutBytes(name, answer, blobs) });
  writeBlobs(writer, blobs);
}

export function readAnswer(reader: FrameReader, name: CallName): unknown {
  const { answer } = reader.object();
  return withBytes(name, answer, readBlobs(reader));
}

export function writeEvents(writer: FrameWriter, events: readonly BrokerEvent[]): void {
  const blobs: Uint8Array[] = [];
  writer.json({ events: events.map((event) => taken(event, blobs)) });
  writeBlobs(writer, blobs);
}

export function readEvents(reader: FrameReader): BrokerEvent[] {
  const { events } = reader.object();
  const blobs = readBlobs(reader);
  if (!Array.isArray(events)) return reader.fail("JSON of no events");
  return events.map((event) => given(event, blobs) as BrokerEvent);
}

function withoutBytes(name: CallName, answer: unknown, blobs: Uint8Array[]): unknown {
  if (CALLS[name] === "one") return taken(answer, blobs);
  if (CALLS[name] === "items") {
    const page = answer as { items: readonly unknown[] };
    return { ...page, items: page.items.map((item) => taken(item, blobs)) };
  }
  // A key that holds null is not a key that is not there.
  if (CALLS[name] === "holes") {
    return (answer as unknown[]).map((value) => (value === undefined ? [] : [value]));
  }
  return answer;
}

function withBytes(name: CallName, answer: unknown, blobs: readonly Uint8Array[]): unknown {
  if (CALLS[name] === "one") return given(answer, blobs);
  if (CALLS[name] === "items") {
    const page = answer as { items?: unknown };
    const items = Array.isArray(page?.items) ? page.items : [];
    return { ...page, items: items.map((item) => given(item, blobs)) };
  }
  if (CALLS[name] === "holes") {
    return Array.isArray(answer) ? answer.map((hole: unknown) => (hole as unknown[])?.[0]) : [];
  }
  return answer;
}

function taken(item: unknown, blobs: Uint8Array[]): unknown {
  const copy: Record<string, unknown> = { ...(item as object) };
  for (const field of BYTES) {
    const bytes = copy[field];
    if (bytes instanceof Uint8Array) copy[field] = blobs.push(bytes) - 1;
  }
  return copy;
}

function given(item: unknown, blobs: readonly Uint8Array[]): unknown {
  const copy: Record<string, unknown> = { ...(item as object) };
  for (const field of BYTES) {
    const index = copy[field];
    if (typeof index === "number") copy[field] = blobs[index] ?? new Uint8Array(0);
  }
  return copy;
}

function writeBlobs(writer: FrameWriter, blobs: readonly Uint8Array[]): void {
  writer.u32(blobs.length);
  for (const blob of blobs) writer.blob(blob);
}

function readBlobs(reader: FrameReader): Uint8Array[] {
  const count = reader.count(BLOBS_MAX, 4);
  const blobs: Uint8Array[] = [];
  for (let i = 0; i < count; i++) blobs.push(reader.blob());
  return blobs;
}
