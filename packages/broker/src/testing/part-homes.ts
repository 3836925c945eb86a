import type { PartHomes } from "../divide/part-homes.ts";

export const COUNT = 3;

/** By the digit at the end of a name; a name without one is at home in 0. */
const digit = (name: string): number => Number(/\d/.exec(name)?.[0] ?? 0) % COUNT;

export const HOMES: PartHomes = {
  count: COUNT,
  homeOfQueue: digit,
  homeOfGate: digit,
  homeOfStore: digit,
};
