/** What became of each item of a batch. */
import type { ErrorJson } from "../errors.ts";
import type { Added, Outcome } from "../job.ts";
import { BATCH_MAX } from "../limits.ts";
import { readError, writeError } from "./error-frame.ts";
import type { FrameReader } from "./reader.ts";
import type { FrameWriter } from "./writer.ts";

const REFUSED = 0;
const TRUE = 1;
const FALSE = 2;
const NUMBER = 3;

const DUPLICATE = 2;
const DROPPED = 4;

/** The flags, the tier and the id of one added job; bit 0 of the flags says that it was added. */
export function writeAdded(writer: FrameWriter, outcomes: readonly Outcome<Added>[]): void {
  writer.u32(outcomes.length);
  for (const { ok, error } of outcomes) {
    if (error !== undefined) {
      writer.u8(REFUSED);
      writeError(writer, error);
      continue;
    }
    const duplicate = ok.duplicate === true ? DUPLICATE : 0;
    writer.u8(TRUE | duplicate | (ok.dropped === true ? DROPPED : 0));
    writer.u8(ok.tier);
    writer.short(ok.id);
  }
}

export function readAdded(reader: FrameReader): Outcome<Added>[] {
  const count = reader.count(BATCH_MAX, 3);
  const outcomes: Outcome<Added>[] = [];
  for (let i = 0; i < count; i++) {
    const flags = reader.flags(TRUE | DUPLICATE | DROPPED);
    if (flags === REFUSED) {
      outcomes.push({ error: readError(reader) });
      continue;
    }
    const tier = reader.u8();
    const ok: Added = { id: reader.short(), tier };
    if ((flags & DUPLICATE) !== 0) ok.duplicate = true;
    if ((flags & DROPPED) !== 0) ok.dropped = true;
    outcomes.push({ ok });
  }
  return outcomes;
}

type Simple = Outcome<boolean | number>;

export function writeOutcomes(writer: FrameWriter, outcomes: readonly Simple[]): void {
  writer.u32(outcomes.length);
  for (const { ok, error } of outcomes) {
    if (error !== undefined) {
      writer.u8(REFUSED);
      writeError(writer, error);
    } else if (typeof ok === "number") {
      writer.u8(NUMBER);
      writer.f64(ok);
    } else writer.u8(ok ? TRUE : FALSE);
  }
}

export function readOutcomes(reader: FrameReader): Simple[] {
  const count = reader.count(BATCH_MAX, 1);
  const outcomes: Simple[] = [];
  for (let i = 0; i < count; i++) outcomes.push(readOutcome(reader));
  return outcomes;
}

function readOutcome(reader: FrameReader): Simple {
  const kind = reader.u8();
  if (kind === REFUSED) return { error: readError(reader) satisfies ErrorJson };
  if (kind === NUMBER) return { ok: reader.f64() };
  if (kind === TRUE || kind === FALSE) return { ok: kind === TRUE };
  return reader.fail(`an outcome of kind ${kind}`);
}
