/** The facts of schedules. */
import type { ScheduleRecord, ScheduleRun } from "@sluice/engine";
import type { ByteReader } from "./byte-reader.ts";
import type { ByteWriter } from "./byte-writer.ts";
import { TICK_OUTCOMES } from "./codes.ts";
import { allOf, type FactCodecs } from "./fact-types.ts";

/** What the broker has of a schedule: all but the payload is JSON. */
interface Carried {
  payload: Uint8Array;
}

const TICKED = { job: 1, error: 2, after: 4, next: 8 };
const RUN = { byHand: 1, isOver: 2 };

export const SCHEDULE_FACTS: FactCodecs<"schedule" | "schedule-deleted" | "ticked"> = {
  schedule: {
    type: 48,
    write(writer, { key, schedule }) {
      const { payload, ...carried } = schedule.config.carried as Carried;
      writer.text(key);
      writer.blob(payload);
      writer.json({ ...schedule, config: { ...schedule.config, carried } });
    },
    read(reader) {
      const key = reader.text();
      // A copy: what is read is a view of a batch.
      const payload = reader.blob().slice();
      const record = reader.object() as ScheduleRecord;
      if (typeof record.config !== "object") throw reader.damaged("a schedule without a plan");
      const carried = { ...(record.config.carried as object), payload };
      return { key, schedule: { ...record, config: { ...record.config, carried } } };
    },
  },
  "schedule-deleted": {
    type: 49,
    write: (writer, { key }) => writer.text(key),
    read: (reader) => ({ key: reader.text() }),
  },
  ticked: {
    type: 50,
    write(writer, { at, key, tick, outcome, job, error, after, next, due }) {
      let flags = 0;
      if (job !== undefined) flags |= TICKED.job;
      if (error !== undefined) flags |= TICKED.error;
      if (after !== undefined) flags |= TICKED.after;
      if (next !== undefined) flags |= TICKED.next;
      writer.varint(flags);
      writer.text(key);
      writer.time(tick, at);
      writer.u8(TICK_OUTCOMES.code(outcome));
      if (job !== undefined) writer.number(job);
      if (error !== undefined) writer.text(error);
      if (after !== undefined) writer.time(after, at);
      if (next === undefined) return;
      writer.time(next, at);
      writer.time(due ?? next, next);
    },
    read(reader, at) {
      const flags = reader.flags(allOf(TICKED));
      const key = reader.text();
      const tick = reader.time(at);
      const outcome = TICK_OUTCOMES.word(reader.u8(), reader);
      const job = (flags & TICKED.job) === 0 ? undefined : reader.number();
      const error = (flags & TICKED.error) === 0 ? undefined : reader.text();
      const after = (flags & TICKED.after) === 0 ? undefined : reader.time(at);
      const next = (flags & TICKED.next) === 0 ? undefined : reader.time(at);
      const due = next === undefined ? undefined : reader.time(next);
      return { key, tick, outcome, job, error, after, next, due };
    },
  },
};

/** The tick that added a job. */
export function writeRun(writer: ByteWriter, { key, tick, byHand, isOver }: ScheduleRun): void {
  writer.u8((byHand === true ? RUN.byHand : 0) | (isOver === true ? RUN.isOver : 0));
  writer.text(key);
  writer.number(tick);
}

export function readRun(reader: ByteReader): ScheduleRun {
  const flags = reader.flags(allOf(RUN));
  const run: ScheduleRun = { key: reader.text(), tick: reader.number() };
  if ((flags & RUN.byHand) !== 0) run.byHand = true;
  if ((flags & RUN.isOver) !== 0) run.isOver = true;
  return run;
}
