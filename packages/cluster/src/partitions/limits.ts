/** Every bound of a connection to a partition, each with its reason. */

/** A connection between nodes that dropped may come back in this time and keep its leases. */
export const RESUME_MS = 2000;

/** Something is heard this often; an owner that is silent for twice as long is taken to be gone. */
export const HEARTBEAT_MS = 3000;

/** From the connection to the greeting. */
export const HANDSHAKE_MS = 5000;
