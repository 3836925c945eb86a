/** A limit on every input from outside, each with its reason. */

/** As many tiers as a Sluice queue takes. */
export const TIERS_MAX = 16;

/** A list of preferred submitters is some thousand addresses; more is a mistake or an attack. */
export const LIST_BYTES_MAX = 1024 * 1024;
export const LIST_TIMEOUT_MS = 10_000;
export const LIST_WORKERS_MAX = 50_000;

/** The name under which a submitter is known; it is a fairness key. */
export const WORKER_ID_BYTES_MAX = 1024;

/** Keys of submitters: all are in memory, and looked up on each request. */
export const KEYS_MAX = 10_000;

/** Jobs on a page of a list. */
export const LIST_LIMIT = 100;
export const LIST_LIMIT_MAX = 1_000;

/** An idempotency key becomes a dedupe key, which ends there. */
export const IDEMPOTENCY_KEY_BYTES_MAX = 512;

/** Arguments and the rest of a submission; Sluice's own limit of a payload. */
export const BODY_BYTES_MAX = 1024 * 1024;

/** A result that is larger is left out of a callback, and can be asked for. */
export const CALLBACK_DATA_CHARS_MAX = 256 * 1024;
export const CALLBACK_URL_BYTES_MAX = 2_048;

/** Readers of event streams, each an open connection. */
export const EVENT_READERS_MAX = 1_000;
/** Proxies close a connection on which nothing is sent. */
export const EVENTS_BEAT_MS = 15_000;
/** What may wait for a reader that does not read, in bytes. */
export const EVENTS_BEHIND_MAX = 1024 * 1024;

/** Longer waits are cut by proxies on the way. */
export const WAIT_SECONDS_MAX = 60;

export const TIMEOUT_SECONDS_MAX = 24 * 3600;

/** What `http-get` brings back at most; the result is kept in the log. */
export const FETCH_BYTES_MAX = 512 * 1024;
export const FETCH_TIMEOUT_MS = 30_000;

export const SLEEP_MS_MAX = 3600 * 1000;

/**
 * How long a handler has to end by itself after its signal was aborted. A handler that observes its
 * signal needs a moment. A handler that only computes never sees the signal, and its thread is
 * ended.
 */
export const GRACE_MS = 500;

/** Threads for handlers that are idle this long are ended, but one. */
export const IDLE_MS = 60_000;

/**
 * Small jobs that a thread is handed at a time, and how long they take together as far as is known.
 * A message to a thread and back costs 15 to 40 µs of processor time, and most of them become a
 * write of their own to the log. Longer lists would only delay the results.
 */
export const LIST_JOBS_MAX = 16;
export const LIST_MS = 0.25;
/** Results of a list that fit into the memory shared with the thread; larger ones are messages. */
export const LIST_RESULTS_BYTES = 64 * 1024;
/** If a list takes longer, the jobs of it that have not begun are taken back from the thread. */
export const LIST_LOOK_MS = 10;
/** A job with a shorter time limit is handed alone, so that its time is measured exactly. */
export const LIST_TIMEOUT_MS_MIN = 1_000;
/** A thread that has taken up nothing of a list by then is ended: something else computes in it. */
export const LIST_STUCK_MS = 10_000;

/** How often a job is run again because another job has ended the thread that it was in. */
export const RESTARTS_MAX = 3;
