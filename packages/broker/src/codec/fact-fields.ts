/**
 * Types that make the compiler fail when the engine's facts gain a field that the codec would lose.
 * A new required field is missed where the fact is read; these are for the optional ones.
 */
import type { Fact } from "@sluice/engine";

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
