/** Every bound of a router, each with its reason. */

/** Items of one call, the broker's own bound. */
export const BATCH_MAX = 10_000;

/** Jobs that one consumer may have on their way at once, the broker's own bound. */
export const CREDITS_MAX = 100_000;

/** Answers of one page, the broker's own bound. */
export const PAGE_MAX = 1000;

/** How long a question to a partition may take: a partition that moves is back well before. */
export const ANSWER_MS = 10_000;

/** How long a look at all partitions takes at most once one has answered: people wait for it. */
export const LOOK_MS = 1_500;

/**
 * How often a call is made that was cut off, and how far apart: one that met a partition as it
 * moved waits for it the second time, and one that nobody serves refuses each of them at once.
 */
export const TRIES_MAX = 3;
export const AGAIN_MS = 100;

/** How long the others wait for one partition where they can do without it. */
export const PATIENCE_MS = 500;

/** Credits that a partition has not used for so long are lent to the others. */
export const QUIET_MS = 10;

/** A delivery for which no credit is left waits this long for the next one, then it goes back. */
export const SURPLUS_MS = 100;

/** After how long a partition that has refused a consumer, or ended it, is asked again. */
export const REJOIN_MS = 1000;

/** How often a change is sent to a partition that has missed it. */
export const PENDING_TELL_MS = 5_000;

/** Names of operations, of groups and of pending tells that are remembered here. */
export const NAMES_MAX = 10_000;

/** As long as a broker holds a group for members that do not come. */
export const GROUP_HELD_MS = 60_000;

/** Events that wait for one reader; beyond it the reader is cut off. */
export const EVENTS_WAITING_MAX = 10_000;

/**
 * A call that is over its time is ended by the partitions first, whose errors say whether it was
 * sent; the router ends it this much later.
 */
export const PARTITIONS_FIRST_MS = 50;
