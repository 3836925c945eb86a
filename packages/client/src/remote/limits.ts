/** Every bound of the client's end of the stream, each with its reason. */

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
