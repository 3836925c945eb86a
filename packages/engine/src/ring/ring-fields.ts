/** The fields of a ring. ring.ts explains them. */
export const RING_INTS = 26;
export const R = 0;
export const OWNER = 2;
export const SIZE = 3;
export const FRESH_HEAD = 4;
export const FRESH_TAIL = 5;
/**
 * The last of the newcomers that must be served before the next round; 0: the round is not ending.
 */
export const CLOSER = 6;
export const NEWCOMERS_FIRST = 7;
export const ENDED = 8;
export const LAST_WAS_FRESH = 9;
/** The slot of round R among the four lists. */
export const CURSOR = 10;
export const LISTS = 11;
export const FAR_HEAP = 19;
export const IDLE_HEAD = 20;
export const IDLE_TAIL = 21;
/** Double: a round past every position ever reached here. */
export const BEYOND = 11;
/**
 * Newcomers that may still join this round; UNSET until the first of a ring that was idle is
 * served.
 */
export const JOINS = 24;
export const UNSET = -1;
/** A round takes in at least so many. */
export const JOINS_LEAST = 64;
