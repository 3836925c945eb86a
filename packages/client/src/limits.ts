/** Every bound of the client, each with its reason. What a job may carry the broker bounds. */

/** Items of one call: what the port takes at once. */
export const BATCH_MAX = 10_000;

/** Ten years: more is a mistake of unit. */
export const DURATION_MS_MAX = 10 * 366 * 24 * 3_600_000;

/** Levels of nested values in a payload: JSON.parse of the other end must not run out of stack. */
export const JSON_DEPTH_MAX = 500;

/** Characters of an error's text that travel with a job: a message, not a response body. */
export const ERROR_TEXT_MAX = 2_048;

/** Characters of a stack: as many as a broker keeps. */
export const STACK_TEXT_MAX = 4_096;

/** Characters of the reason of a cooldown: it is shown beside the gate. */
export const REASON_TEXT_MAX = 256;

/** How many issues of a schema an error lists: the first ones say what is wrong. */
export const ISSUES_MAX = 10;

/**
 * Ended jobs whose end is not confirmed yet. Beyond it a worker takes no new ones, so that a log
 * that falls behind cannot fill the memory with results.
 */
export const UNCONFIRMED_MAX = 20_000;

/** Items of one page, when an iterator walks through a list. */
export const PAGE_ITEMS = 500;

/** Running handlers may take this long to end when a worker is closed and nothing else is said. */
export const CLOSE_TIMEOUT_MS = 30_000;

/**
 * How long a close that was given no time waits for the last answers of the broker: as long as a
 * cluster waits for a partition that is away. Beyond it leases end by themselves.
 */
export const LAST_ANSWER_MS = 10_000;

/** A close whose handlers have used up its time still lets the broker answer this long. */
export const CLOSE_ANSWER_MS = 500;

/**
 * Jobs of calls of several adds that were not answered in time and can be repeated, for each queue:
 * ten of the largest calls. Their payloads stay in memory.
 */
export const UNANSWERED_JOBS_MAX = 100_000;

/** A server that takes the connection and says nothing for so long is frozen. */
export const HANDSHAKE_MS_MAX = 10_000;

/** How long a connection that we close waits for the server's close frame. */
export const FAREWELL_MS_MAX = 500;

/** From the dial to the welcome. */
export const CONNECT_MS = 10_000;

/** The first reconnect comes at once, well within the time that leases are kept. */
export const BACKOFF_MS_MIN = 50;
export const BACKOFF_MS_MAX = 5000;
/** A partition that has moved finds its new owner within seconds: it is asked for often. */
export const MOVED_MS_MAX = 250;

/** Longer than any commit and any short restart of a server; shorter than callers of HTTP wait. */
export const CALL_TIMEOUT_MS = 30_000;

/** How long the other end may take to say farewell. */
export const LEAVE_MS = 5000;

/** Requests that are not confirmed yet; above it adds wait for their turn. */
export const PENDING_BYTES_MAX = 64 * 1024 * 1024;

/** Adds that wait for their turn; what comes beyond is refused. */
export const WAITING_ADDS_MAX = 10_000;
export const BUSY_RETRY_MS = 250;

/** One payload: the most that any broker takes. */
export const PAYLOAD_BYTES_MAX = 16 * 1024 * 1024;

/** What the options of one job may add to its payload. */
export const JOB_BYTES_SLACK = 64 * 1024;
