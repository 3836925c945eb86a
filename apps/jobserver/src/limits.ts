/** A limit on everything that comes from outside, each with its reason. */

/** As many tiers as a Sluice queue takes. */
export const TIERS_MAX = 16;

/** A list of preferred submitters is some thousand addresses; more is a mistake or an attack. */
export const LIST_BYTES_MAX = 1024 * 1024;
export const LIST_TIMEOUT_MS = 10_000;
export const LIST_WORKERS_MAX = 50_000;

/** The name under which a submitter is known; it is a fairness key. */
export const WORKER_ID_BYTES_MAX = 1024;

/** An idempotency key becomes a dedupe key, which ends there. */
export const IDEMPOTENCY_KEY_BYTES_MAX = 512;

/** Arguments and the rest of a submission; Sluice's own limit of a payload. */
export const BODY_BYTES_MAX = 1024 * 1024;

/** Longer waits are cut by proxies on the way. */
export const WAIT_SECONDS_MAX = 60;

export const TIMEOUT_SECONDS_MAX = 24 * 3600;

/** What `http-get` brings back at most; the result is kept in the log. */
export const FETCH_BYTES_MAX = 512 * 1024;
export const FETCH_TIMEOUT_MS = 30_000;

export const SLEEP_MS_MAX = 3600 * 1000;
