/** Every bound of a cluster, each with its reason. */

// A router

/** Answers of one page when the caller does not say: as the broker has it. */
export const PAGE = 100;

/** How long a question to a partition may take: a partition that moves is back well before. */
export const QUESTION_MS = 10_000;

/** How long a look at all partitions takes at most once one has answered: people wait for it. */
export const LOOK_MS = 1_500;

/**
 * How often a call that was cut off is made, and how far apart. If the partition was moving, the
 * second call waits for it. If no node serves the partition, each call is refused at once.
 */
export const REPEATS_MAX = 3;
export const REPEAT_MS = 100;

/** How long the others wait for one partition where they can do without it. */
export const WITHOUT_ONE_MS = 500;

/** Credits that a partition of several is given at once, if a worker has twice as many. */
export const LOT_MAX = 128;

/** Credits wait so long for others to go with: a slow handler is not waited for. */
export const GATHER_MS = 2;

/** Credits that a partition has not used for so long are lent to the others. */
export const QUIET_MS = 10;

/** A delivery for which no credit is left waits this long for the next one, then it goes back. */
export const SURPLUS_MS = 100;

/** After how long a partition that has refused a consumer, or ended it, is asked again. */
export const REJOIN_MS = 1000;

/** How often a change is sent to a partition that has missed it. */
export const PENDING_TELL_MS = 5_000;

/** Names of operations, of groups and of pending tells that are remembered here. */
export const NAMES_MAX = 10_000;

/** As long as a broker holds a group for members that do not come. */
export const GROUP_HELD_MS = 60_000;

/**
 * A call that is over its time is ended by the partitions first, whose errors say whether it was
 * sent; the router ends it this much later.
 */
export const PARTITIONS_FIRST_MS = 50;

// Flows over partitions

/** Ends that a partition passes on at the same time. */
export const LINK_CREDITS = 256;

/** How long a call to another partition may take: well below the lease of the queue. */
export const LINK_ASK_MS = 5_000;

/** A partition that is away is tried again after a second, then in twice the time each. */
export const LINK_RETRY_MS = 1_000;
export const LINK_RETRY_MS_MAX = 300_000;

/**
 * A stand-in makes sure of its message after this time without a signal, then in four times the
 * time each. The message is lost only if its queue was purged or deleted.
 */
export const LINK_LATE_MS = 60_000;
export const LINK_LATE_MS_MAX = 30 * 24 * 3_600_000;

/** A piece of a result: in base64 it is below the 1 MiB of a signal. */
export const LINK_PART_BYTES = 512 * 1024;

/**
 * How often a flow may go from one partition to another along its longest path: each time takes
 * calls that wait for those before.
 */
export const FLOW_HOPS_MAX = 100;

// Streams to partitions

/** A connection between nodes that dropped may come back in this time and keep its leases. */
export const RESUME_MS = 2000;

/**
 * Something is heard this often; an owner that is silent for twice as long is taken to be gone. A
 * client that lost its way to an owner must be served again within two seconds.
 */
export const HEARTBEAT_MS = 600;

/** An owner that has not answered by then may be out of reach: another node is asked to relay. */
export const RELAY_AFTER_MS = 250;

/** An owner that does not answer a relaying node by then is away for that one too. */
export const RELAY_MS_MAX = 500;

/** From the connection to the greeting. */
export const HANDSHAKE_MS = 5000;

/**
 * How long a call waits for a partition that no node serves: twice what a takeover takes. After
 * that the cluster is not about to recover by itself, and the caller should know.
 */
export const PATIENCE_MS = 10_000;

/** A partition that moves is back within a tenth of a second: the first tries come soon. */
export const BACKOFF_MS_MIN = 8;

/** A machine that takes longer to answer a connection is as good as gone. */
export const DIAL_MS_MAX = 2_000;

// A node

/** A node that was not heard of for so long is dead: a takeover must be done within 5 s. */
export const LEASE_MS = 3_000;

/** How often an owner notes what its log has confirmed: what is newer can be lost unseen. */
export const ANCHOR_MS = 3_000;

/** Beats in one lease: one may be late, and one lost, before anybody is given up. */
export const BEATS_PER_LEASE = 6;

/** A node that could not hear itself for this part of a lease judges no other node. */
export const DEAF_SHARE = 1 / 2;

/** At the most between two watches that are opened because nothing is heard. */
export const WATCH_MS_MAX = 30_000;

/** The logs of a node that was silent for this part of a lease are read ahead: it may be dead. */
export const SUSPECT_SHARE = 1 / 2;

/** An owner without a proof for this part of a lease serves no more. */
export const PROOF_SHARE = 2 / 3;

/** Partitions that a node claims and opens at the same time: each of them reads a whole log. */
export const CLAIMS_MAX = 8;

/** Partitions that one node gets ready to hand over at once; they leave one after the other. */
export const MOVES_MAX = 2;

/** A successor that has not read ahead by then gets the partition as it is. */
export const WARM_MS_MAX = 20_000;

/** How long a graceful end may take before the successor's fence ends it. */
export const CLOSE_MS_MAX = 5_000;

/** A node whose own logs wait for less than this can take a partition whose owner waits in vain. */
export const FLOWING_MS = 1_000;

/** A partition that its owner gave up stays where it is for so long: the trouble may last. */
export const GIVEN_UP_MS = 20_000;

/** Until the next try to open a partition whose log failed. */
export const RETRY_MS_MIN = 100;
export const RETRY_MS_MAX = 2_000;

/**
 * The same for a log that is damaged or of a newer version: it stays so until it is repaired,
 * and every try leaves a fence of 32 messages in its stream. After twelve tries, 9,000 a day.
 */
export const UNREADABLE_RETRY_MS_MAX = 5 * 60_000;

/** A call of the registry that takes longer has failed. */
export const REGISTRY_MS_MAX = 2_000;

/** All nodes must understand a feature level for so long before it rises: one may be on its way. */
export const LEVEL_SETTLE_MS = 60_000;

/** How often a node looks whether it can rise, while it can. */
export const LEVEL_CHECK_MS = 5_000;

/** A dead node is shown for so long, then it is forgotten. */
export const FORGET_MS = 10 * 60_000;

/** So long after a queue has moved, calls that were made before it are still repeated. */
export const MOVED_MS = 10 * 60_000;

/** Partitions with so many jobs have a standby: fewer are read within a quarter of a second. */
export const STANDBY_JOBS = 100_000;

/** A standby is left when there are only so many of those left. */
export const STANDBY_LEAVE_SHARE = 0.5;

/** It is decided again so many ticks apart, a second. */
export const STANDBY_TICKS = 4;

/** Moves that are remembered, for people. */
export const MOVES_KEPT = 50;

/** Partitions of a new cluster: two, three, four and six nodes get even shares of it. */
export const PARTITIONS = 12;

/** How long a stream waits for a partition that is about to be served here, or elsewhere. */
export const SOON_MS = 3_000;

/** How soon keys are read again while their partition is away. */
export const KEYS_RETRY_MS = 200;

/** How long a key's maker waits for nodes that do not say that they have read it. */
export const KEYS_MS_MAX = 3_000;

/** Other nodes write a node's entry too, but rarely. */
export const ENTRY_TRIES_MAX = 3;

/** How often a drain is looked for in the entry of its node, which writes twice a second. */
export const DRAIN_ASK_MS = 50;

/** Between two tries of a call while a leader is elected. */
export const TRY_AGAIN_MS = 200;

/** How often figures of partitions are taken. */
export const FIGURES_MS = 1_000;

/** Payloads in memory, of all partitions that a node owns; as much as a server alone has. */
export const PAYLOAD_MEMORY_BYTES = 256 * 1024 * 1024;

/** What logs keep for reading, of all partitions: 8 MiB each, a log's own default, up to eight. */
export const READ_CACHE_BYTES = 64 * 1024 * 1024;
export const READ_CACHE_BYTES_EACH = 8 * 1024 * 1024;

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

/** How often a queue that moves is looked at, and how long callers may not have heard of it. */
export const MOVE_LOOK_MS = 500;
export const MOVE_SETTLE_MS = 5_000;

/** How long a home may take to say what is to be copied, and how soon it is asked again. */
export const COPY_MS_MAX = 10_000;
export const COPY_AGAIN_MS = 500;

// A client

/** How long a node is asked to wait for news: a node that is frozen is left after it. */
export const STATUS_WAIT_MS = 2_000;

/** How long an answer may take beyond that. */
export const STATUS_MS = 1_500;

/** Between two rounds in which no node answered. */
export const STATUS_PAUSE_MS = 250;

// The registry
/** How long a call of NATS may take. */
export const REGISTRY_ANSWER_MS = 2000;

/** HomeCopies of the registry where there are several servers: one may fail. */
export const REPLICAS_IN_CLUSTER = 3;

/** Entries are addresses and leases; a value beyond this is something else. */
export const VALUE_BYTES_MAX = 64 * 1024;
export const KEY_LENGTH_MAX = 512;

// A node on NATS

/** NATS servers that start at the same time must be up, and agree on leaders: some ten seconds. */
export const NATS_MS_MAX = 30_000;

/**
 * A partition whose log gets no answer of NATS for so long is closed, and opened again: longer than
 * the election of a leader takes, after which the log continues where it was.
 */
export const LOG_DEADLINE_MS = 20_000;

/** One attempt of an append: what was sent to a leader that is gone is sent to the next one. */
export const LOG_ACK_WAIT_MS = 1_000;

/** How often JetStream is asked how full it is. */
export const STORAGE_LOOK_MS = 2_000;

/** From here on adds are refused: acks and the cleaning of logs need the rest. */
export const STORAGE_LOW_SHARE = 0.9;

/** When an add that was refused for want of storage may be tried again. */
export const STORAGE_RETRY_MS = 10_000;

/** NATS takes four to nine seconds to elect the leader of a stream whose leader is gone. */
export const ELECTION_MS = 9_000;

/** How often it is looked whether anything goes through the NATS server. */
export const SERVER_LOOK_MS = 250;

/** A server through which nothing goes for so long is left; longer each time when that is vain. */
export const SERVER_TROUBLE_MS = 2_500;
export const SERVER_TROUBLE_MS_MAX = 20_000;

/** How long the others may take to take over what a node that ends has. */
export const LEAVE_MS = 15_000;

/** A node's name is a key of the registry, and is in every line about it. */
export const NODE_NAME_CHARS_MAX = 100;

/** A cluster's name begins the names of its streams, which may have 255. */
export const CLUSTER_NAME_CHARS_MAX = 100;

/** Tries to copy a partition whose owner trims it meanwhile: one catches up nearly always. */
export const BACKUP_TRIES = 5;

/** Of what went wrong with a partition: it is in every beat of its owner until it is served. */
export const ERROR_CHARS_MAX = 300;
