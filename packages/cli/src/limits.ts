/** Every bound of the command line, each with its reason. */

/** NATS servers that start at the same time must be up, and agree on leaders: some ten seconds. */
export const NATS_MS_MAX = 30_000;

/** Without a word of NATS for so long a partition is given up, and opened anew. */
export const LOG_DEADLINE_MS = 10_000;

/** How long the others may take to take over what a node that ends has. */
export const LEAVE_MS = 15_000;

/** A node's name is a key of the registry, and stands in every line about it. */
export const NODE_NAME_CHARS_MAX = 100;

/** A cluster's name begins the names of its streams, which may have 255. */
export const CLUSTER_NAME_CHARS_MAX = 100;

/** How long one poll of `consume` waits: less than proxies allow. */
export const CONSUME_WAIT_MS = 10_000;

/** The end of what a failed program wrote to standard error: kept as the job's error. */
export const PROGRAM_ERROR_CHARS_MAX = 1000;

/** Facts that a copy of a log has on their way: enough that neither end waits for the other. */
export const COPY_BYTES_MAX = 8 * 1024 * 1024;

/** How often `cluster drain` asks how far the node is. */
export const DRAIN_LOOK_MS = 200;
