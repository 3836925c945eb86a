/**
 * The row of a job: 80 bytes, whatever its state. What only some jobs have (a deadline, a dedupe
 * key, an error, a result) lives in an `Extra` beside it, what the caller gave to be carried in
 * `bodies`. How the fields are imported is explained in ring/node-fields.ts.
 */
export const JOB_INTS = 20;

/**
 * Links in the strand while waiting, in the order of the lane while held, in the list of kept jobs
 * when ended. The link back of a strand's head means nothing: clearing it would fetch a job that
 * may not be needed for long. They are at one end of the row, and `POS2` at the other (`unkeep`).
 */
export const JOB_NEXT = 0;
export const JOB_PREV = 1;
/** Leased: index of the worker. */
export const WORKER = 0;
/** Delayed, leased: place in the heap of timers. */
export const POS = 1;
/** Blocked: edges that count still, and the one that failed, 0: none has (flows/links.ts). */
export const OPEN_EDGES = 0;
export const FAILED_EDGE = 1;

/** Doubles. */
export const ID = 1;
/** Order of entry into the strand: the age that decides between strands. */
export const SEQ = 2;
/**
 * Waiting: since when. Delayed, held: until when. Leased: the expiry. Ended: when. Blocked: for how
 * long it is delayed afterwards.
 */
export const TIME = 3;
export const ADDED = 4;

export const IN_STRAND = 10;
/** State in the low 4 bits, tier in the next 4, queue above. */
export const META = 11;
export const STATE_BITS = 15;
/** Attempt in the low half, deliveries allowed in the high half. */
export const ATTEMPTS = 12;
/** Milliseconds from the add to the latest dispatch, at most 2^31 - 1. */
export const DISPATCHED = 13;
export const COST = 14;
export const LEASE = 15;
export const ID_LINK = 16;
export const SIZE = 17;
/**
 * Bit 0: there is an extra. Bits 1 to 3: how it ended. Bit 4: its gates are its policy's. Bit 5: it
 * is ordered. Bit 6: it has a place in the order of its lane. Bit 7: it has ended, and jobs that
 * wait for it need it still. Bit 8: it waited for other jobs. Bits 9 to 31: its node among those
 * that wait for each other, 0: none.
 */
export const HAS_EXTRA = 18;
/** Place in the heap of second timers: deadlines and promotions. */
export const POS2 = 19;

export const WAITING_JOB = 1;
export const DELAYED_JOB = 2;
export const LEASED_JOB = 3;
export const ENDED_JOB = 4;
/** It waits for other jobs. */
export const BLOCKED_JOB = 5;
/** In an ordered lane: it waits until the job ahead of it has ended. */
export const HELD_JOB = 6;
