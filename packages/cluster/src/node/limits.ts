/** Every bound of a node, each with its reason. */

/** A node that was not heard of for so long is dead: a takeover must be done within 5 s. */
export const LEASE_MS = 3_000;

/** Beats in one lease: one may be late, and one lost, before anybody is given up. */
export const BEATS_PER_LEASE = 6;

/** A node that could not hear itself for this part of a lease judges nobody. */
export const DEAF_SHARE = 1 / 2;

/** At the most between two watches that are opened because nothing is heard. */
export const WATCH_MS_MAX = 30_000;

/** An owner without a proof for this part of a lease serves no more. */
export const PROOF_SHARE = 2 / 3;

/** Changes of the registry that are made at once make each other try again: no more than these. */
export const CLAIMS_MAX = 8;

/** Partitions that one node gets ready to hand over at once; they leave one after the other. */
export const MOVES_MAX = 2;

/** A successor that has not read ahead by then gets the partition as it is. */
export const WARM_MS_MAX = 20_000;

/** How long a graceful end may take before the successor's fence ends it. */
export const CLOSE_MS_MAX = 5_000;

/** Until the next try to open a partition whose log failed. */
export const RETRY_MS_MIN = 100;
export const RETRY_MS_MAX = 2_000;

/**
 * The same for a log that is damaged or of a newer version: it stays so until somebody mends it,
 * and every try leaves a fence of 32 messages in its stream. After twelve tries, 9,000 a day.
 */
export const UNREADABLE_RETRY_MS_MAX = 5 * 60_000;

/** A call of the registry that takes longer has failed. */
export const REGISTRY_MS_MAX = 2_000;

/** A dead node is shown for so long, then it is forgotten. */
export const FORGET_MS = 10 * 60_000;

/** Moves that are remembered, for people. */
export const MOVES_KEPT = 50;

/** Partitions of a new cluster: two, three, four and six nodes get even shares of it. */
export const PARTITIONS = 12;

/** Each has a stream of its own and is claimed by a change of the registry, in turn with others. */
export const PARTITIONS_MAX = 240;

/** How long a stream waits for a partition that is about to be served here, or elsewhere. */
export const SOON_MS = 3_000;

/** How long a key's maker waits for nodes that do not say that they have read it. */
export const KEYS_MS_MAX = 3_000;

/** How often figures of partitions are taken. */
export const FIGURES_MS = 1_000;

/** Payloads in memory, of all partitions that a node owns; as much as a server alone has. */
export const PAYLOAD_MEMORY_BYTES = 256 * 1024 * 1024;

/** What logs keep for reading, of all partitions: 8 MiB each, a log's own default, up to eight. */
export const READ_CACHE_BYTES = 64 * 1024 * 1024;
export const READ_CACHE_BYTES_EACH = 8 * 1024 * 1024;

/** A machine that takes longer to answer a connection is as good as gone. */
export const DIAL_MS_MAX = 2_000;

/** How long a node that starts waits for the registry: NATS may start at the same time. */
export const START_MS_MAX = 30_000;

/** How often the other nodes are called at, and how long one may take to answer. */
export const PROBE_MS = 1_000;
export const PROBE_MS_MAX = 1_000;

/** A call may fail by chance; one that is back must stay for a while, for moves are not free. */
export const PROBES_FAILED = 3;
export const PROBES_WELL = 5;

/** Nodes that each calls at: most of those that call at one must agree that it is away. */
export const CALLERS = 3;

/** How long a home may take to say what is to be copied, and how soon it is asked again. */
export const COPY_MS_MAX = 10_000;
export const COPY_AGAIN_MS = 500;
