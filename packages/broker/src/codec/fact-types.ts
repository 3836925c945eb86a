/**
 * The first byte of every fact.
 *
 * A new kind of fact gets the next number, 61, and a row in `levels.ts`. One of a job is written
 * here and in `life-facts.ts` or `step-facts.ts`, any other is one row of `queue-facts.ts`,
 * `gate-facts.ts`, `schedule-facts.ts`, `flow-facts.ts` or `rare-facts.ts`. A
 * change of a fact that an older version could not read gets a new number too: facts are written by
 * the new one, and the decoder keeps the old one for as long as logs with it may be opened. The
 * number of a kind that is gone stays here as a comment and
 * is never given again. A version that meets a number it does not know answers `LOG_VERSION`.
 *
 * An optional field needs no new number: it takes a free bit of the fact's flags. A version that
 * does not know the bit answers `LOG_VERSION` as well.
 *
 * 0 is no fact, so that a stretch of zeros is not read as facts. Numbers stay below 128.
 */
import type { Fact } from "@sluice/engine";
import type { ByteReader } from "./byte-reader.ts";
import type { ByteWriter } from "./byte-writer.ts";

/** The facts of one job, which are frequent. */
export const JOB_TYPES = {
  job: 1,
  leased: 2,
  ended: 3,
  extended: 4,
  due: 5,
  retried: 6,
  returned: 7,
  dead: 8,
  redriven: 9,
  revived: 10,
  replaced: 11,
  "follow-up": 12,
  promoted: 13,
  moved: 31,
  progress: 41,
  step: 54,
  suspended: 55,
  signalled: 56,
  forgotten: 58,
  transferred: 59,
  logged: 60,
} as const satisfies Partial<Record<Fact["fact"], number>>;

/** A lease of a worker in the process of the broker: the fields of `leased`. */
export const LEASED_IN_PROCESS = 44;

/** All other facts. */
export type RareKind = Exclude<Fact["fact"], keyof typeof JOB_TYPES>;

/** A row for a rare fact: its number, and its fields behind its type and its time. */
export interface FactCodec<Kind extends RareKind> {
  readonly type: number;
  write(writer: ByteWriter, fact: Plain<Kind>): void;
  read(reader: ByteReader, at: number): Omit<Plain<Kind>, "at" | "fact">;
}

/** The row of a fact that has a name and nothing else. */
export function named(
  type: number,
): FactCodec<"queue-deleted" | "purge-ended" | "group-ended" | "group-held" | "group-released"> {
  return {
    type,
    write: (writer, { name }) => writer.text(name),
    read: (reader) => ({ name: reader.name() }),
  };
}

export type FactCodecs<Kind extends RareKind> = { readonly [K in Kind]: FactCodec<K> };

/*
 * Types that make the compiler fail when the engine's facts gain a field that the codec would lose.
 * A new required field is missed where the fact is read; these are for the optional ones.
 */

export type Told<Kind extends Fact["fact"]> = Extract<Fact, { fact: Kind }>;

/** A fact without optional fields; once it has one, it needs flags. */
export type Plain<Kind extends Fact["fact"]> = [OptionalKeys<Told<Kind>>] extends [never]
  ? Told<Kind>
  : never;

/** Where a job was is for those who hear a fact at once: the log has it already. */
type OptionalKeys<T> = Exclude<
  { [K in keyof T]-?: Record<never, never> extends Pick<T, K> ? K : never }[keyof T],
  "queue"
>;

/** A bit for each optional field, and for what else may be left out. */
export type Flags<T, More extends string = never> = Readonly<
  Record<OptionalKeys<T> | More, number>
>;

/** All bits of a table: what a reader may meet. */
export function allOf(flags: Readonly<Record<string, number>>): number {
  return Object.values(flags).reduce((all, bits) => all | bits, 0);
}
