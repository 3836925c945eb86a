/**
 * The first byte of every fact.
 *
 * A new kind of fact gets the next number. A change of a fact that an older version could not read
 * gets a new number too: facts are written by the new one, and the decoder keeps the old one for as
 * long as logs with it may be opened. The number of a kind that is gone stays here as a comment and
 * is never given again. A version that meets a number it does not know answers `LOG_VERSION`.
 *
 * An optional field needs no new number: it takes a free bit of the fact's flags. A version that
 * does not know the bit answers `LOG_VERSION` as well.
 *
 * 0 is no fact, so that a stretch of zeros is not read as facts. Numbers stay below 128.
 */
import type { Fact } from "@sluice/engine";

export const FACT_TYPES: Readonly<Record<Fact["fact"], number>> = {
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
  queue: 14,
  "queue-deleted": 15,
  purged: 16,
  "purge-ended": 17,
  weight: 18,
  position: 19,
  "key-held": 20,
  counters: 21,
  gate: 22,
  cooled: 23,
  cleared: 24,
  reported: 25,
  "gate-state": 26,
  group: 27,
  "group-ended": 28,
  stored: 29,
  ids: 30,
  moved: 31,
  "group-held": 32,
  "group-released": 33,
  answered: 34,
  wall: 35,
  life: 36,
  borrower: 37,
  lent: 38,
  lots: 39,
  "lot-expired": 40,
  progress: 41,
  "lease-secret": 46,
};

/** A lease of a worker in the process of the broker: the fields of `leased`. */
export const LEASED_IN_PROCESS = 44;

/** The kinds by their number; undefined where there is none. */
export const FACT_KINDS: readonly (Fact["fact"] | undefined)[] = kindsByType();

function kindsByType(): (Fact["fact"] | undefined)[] {
  const kinds: (Fact["fact"] | undefined)[] = [];
  for (const [kind, type] of Object.entries(FACT_TYPES)) kinds[type] = kind as Fact["fact"];
  kinds[LEASED_IN_PROCESS] = "leased";
  return kinds;
}
