/** Every bound of the command line, each with its reason. */

/** How long one poll of `consume` waits: less than proxies allow. */
export const CONSUME_WAIT_MS = 10_000;

/** The end of what a failed program wrote to standard error: kept as the job's error. */
export const PROGRAM_ERROR_CHARS_MAX = 1000;

/** How often `cluster drain` asks how far the node is. */
export const DRAIN_LOOK_MS = 200;

/** Contexts of one user: a list that a person reads. */
export const CONTEXTS_MAX = 1000;

/** How often a command that npm started looks whether npm's shell is still there. */
export const PARENT_LOOK_MS = 500;
