/** The part of a job's record that most jobs have not. */
import type { ExtraRecord, HistoryEntry, LogLine, StepsRecord } from "@sluice/engine";
import type { ByteReader } from "./byte-reader.ts";
import type { ByteWriter } from "./byte-writer.ts";
import { HISTORY_EVENTS } from "./codes.ts";
import { allOf, type Flags } from "./fact-types.ts";
import {
  type ReadBody,
  readBackoff,
  readDedupe,
  readSpec,
  type WriteBody,
  writeBackoff,
  writeDedupe,
  writeSpec,
} from "./job-spec.ts";
import { readResult, readWaited, writeResult, writeWaited } from "./life-facts.ts";
import { readRun, writeRun } from "./schedule-facts.ts";

const HAS: Flags<ExtraRecord> = {
  deadline: 1 << 0,
  maxWaitMs: 1 << 1,
  dedupe: 1 << 2,
  group: 1 << 3,
  leaseMs: 1 << 4,
  backoff: 1 << 5,
  error: 1 << 6,
  result: 1 << 7,
  history: 1 << 8,
  followUp: 1 << 9,
  origin: 1 << 10,
  waited: 1 << 11,
  wallDeadline: 1 << 12,
  runAt: 1 << 13,
  stack: 1 << 14,
  progress: 1 << 15,
  diedAt: 1 << 16,
  leasesBefore: 1 << 17,
  schedule: 1 << 18,
  steps: 1 << 19,
  log: 1 << 21,
  worker: 1 << 22,
  generation: 1 << 20,
};
const KNOWN = allOf(HAS);
const FIELDS = Object.keys(HAS) as (keyof ExtraRecord)[];

export function writeExtra(writer: ByteWriter, extra: ExtraRecord, writeBody: WriteBody): void {
  const { deadline, maxWaitMs, dedupe, group, leaseMs, backoff, error } = extra;
  writer.varint(flagsOf(extra));
  if (deadline !== undefined) writer.number(deadline);
  if (maxWaitMs !== undefined) writer.number(maxWaitMs);
  if (dedupe !== undefined) writeDedupe(writer, dedupe.key, dedupe.mode, dedupe.until);
  if (group !== undefined) writer.text(group);
  if (leaseMs !== undefined) writer.number(leaseMs);
  if (backoff !== undefined) writeBackoff(writer, backoff);
  if (error !== undefined) writer.text(error);
  if (extra.result !== undefined) writeResult(writer, extra.result);
  if (extra.history !== undefined) writeHistory(writer, extra.history);
  if (extra.waited !== undefined) writeWaited(writer, extra.waited);
  if (extra.followUp !== undefined) writeSpec(writer, extra.followUp, writeBody);
  if (extra.origin !== undefined) writeOrigin(writer, extra.origin, writeBody);
  if (extra.wallDeadline !== undefined) writer.number(extra.wallDeadline);
  if (extra.runAt !== undefined) writer.number(extra.runAt);
  if (extra.stack !== undefined) writer.text(extra.stack);
  if (extra.progress !== undefined) writer.json(extra.progress);
  if (extra.diedAt !== undefined) writer.number(extra.diedAt);
  if (extra.leasesBefore !== undefined) writer.number(extra.leasesBefore);
  if (extra.schedule !== undefined) writeRun(writer, extra.schedule);
  if (extra.steps !== undefined) writer.json(extra.steps);
  if (extra.log !== undefined) writer.json(extra.log);
  if (extra.worker !== undefined) writer.text(extra.worker);
  if (extra.generation !== undefined) writer.number(extra.generation);
}

function flagsOf(extra: ExtraRecord): number {
  let flags = 0;
  for (const field of FIELDS) if (extra[field] !== undefined) flags |= HAS[field];
  return flags;
}

export function readExtra(reader: ByteReader, readBody: ReadBody): ExtraRecord {
  const flags = reader.flags(KNOWN);
  const extra: ExtraRecord = {};
  if ((flags & HAS.deadline) !== 0) extra.deadline = reader.number();
  if ((flags & HAS.maxWaitMs) !== 0) extra.maxWaitMs = reader.number();
  if ((flags & HAS.dedupe) !== 0) {
    const { key, mode, time } = readDedupe(reader);
    extra.dedupe = time === undefined ? { key, mode } : { key, mode, until: time };
  }
  if ((flags & HAS.group) !== 0) extra.group = reader.name();
  if ((flags & HAS.leaseMs) !== 0) extra.leaseMs = reader.number();
  if ((flags & HAS.backoff) !== 0) extra.backoff = readBackoff(reader);
  if ((flags & HAS.error) !== 0) extra.error = reader.text();
  if ((flags & HAS.result) !== 0) extra.result = readResult(reader);
  if ((flags & HAS.history) !== 0) extra.history = readHistory(reader);
  if ((flags & HAS.waited) !== 0) extra.waited = readWaited(reader);
  if ((flags & HAS.followUp) !== 0) extra.followUp = readSpec(reader, readBody);
  if ((flags & HAS.origin) !== 0) extra.origin = readOrigin(reader, readBody);
  if ((flags & HAS.wallDeadline) !== 0) extra.wallDeadline = reader.number();
  if ((flags & HAS.runAt) !== 0) extra.runAt = reader.number();
  if ((flags & HAS.stack) !== 0) extra.stack = reader.text();
  if ((flags & HAS.progress) !== 0) extra.progress = reader.json();
  if ((flags & HAS.diedAt) !== 0) extra.diedAt = reader.number();
  if ((flags & HAS.leasesBefore) !== 0) extra.leasesBefore = reader.number();
  if ((flags & HAS.schedule) !== 0) extra.schedule = readRun(reader);
  if ((flags & HAS.steps) !== 0) extra.steps = reader.object() as unknown as StepsRecord;
  if ((flags & HAS.log) !== 0) extra.log = reader.object() as readonly LogLine[];
  if ((flags & HAS.worker) !== 0) extra.worker = reader.name();
  if ((flags & HAS.generation) !== 0) extra.generation = reader.number();
  return extra;
}

/** Each time is near the one before it. */
function writeHistory(writer: ByteWriter, history: readonly HistoryEntry[]): void {
  let before = 0;
  writer.varint(history.length);
  for (const { at, event, detail } of history) {
    writer.varint(HISTORY_EVENTS.code(event) * 2 + (detail === undefined ? 0 : 1));
    writer.time(at, before);
    if (detail !== undefined) writer.text(detail);
    before = at;
  }
}

function readHistory(reader: ByteReader): HistoryEntry[] {
  const history: HistoryEntry[] = [];
  let before = 0;
  const count = reader.varint();
  for (let i = 0; i < count; i++) {
    const code = reader.varint();
    const event = HISTORY_EVENTS.word(Math.floor(code / 2), reader);
    const at = reader.time(before);
    history.push(code % 2 === 0 ? { at, event } : { at, event, detail: reader.text() });
    before = at;
  }
  return history;
}

type Origin = NonNullable<ExtraRecord["origin"]>;

function writeOrigin(writer: ByteWriter, origin: Origin, writeBody: WriteBody): void {
  writer.text(origin.queue);
  writer.number(origin.attempts);
  writer.text(origin.reason);
  writeSpec(writer, origin.spec, writeBody);
}

function readOrigin(reader: ByteReader, readBody: ReadBody): Origin {
  const queue = reader.name();
  const attempts = reader.number();
  const reason = reader.text();
  return { queue, spec: readSpec(reader, readBody), attempts, reason };
}
