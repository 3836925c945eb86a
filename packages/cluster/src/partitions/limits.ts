/** Every bound of a connection to a partition, each with its reason. */

/** A connection between nodes that dropped may come back in this time and keep its leases. */
export const RESUME_MS = 2000;

/** Something is heard this often; an owner that is silent for twice as long is taken to be gone. */
export const HEARTBEAT_MS = 3000;

/** From the connection to the greeting. */
export const HANDSHAKE_MS = 5000;

/**
 * How long a call waits for a partition that nobody serves: twice what a takeover takes. Beyond it
 * the cluster is not about to mend itself, and whoever calls should know.
 */
export const PATIENCE_MS = 10_000;

/** A partition that moves is back within a tenth of a second: the first tries come soon. */
export const BACKOFF_MS_MIN = 8;
