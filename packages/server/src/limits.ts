/**
 * Bounds on what comes over the network, each with its reason. Those that an operator may change
 * are rows of `LIMIT_OPTIONS` in `protocol`; these need no change.
 */

const MIB = 1024 * 1024;

/** The most that `bodyBytesMax` may be: 16 MiB of payload in base64 and some room. */
export const BODY_BYTES_HARD_MAX = 24 * MIB;

/**
 * The body of a route that carries no payloads: names, options, a page of settings. Parsing that
 * much takes 6 ms at most.
 */
export const BODY_BYTES_SMALL_MAX = 64 * 1024;

/**
 * A batch of leases, 10,000 of them with their tokens of 100 bytes at most. Or how far their jobs
 * are: 200 bytes for each, or 250 jobs with the 8 KiB that one may tell.
 */
export const LEASES_BODY_BYTES_MAX = 2 * MIB;

/** A queue's settings: a policy of 256 KiB, its script, and weights for 10,000 lanes. */
export const QUEUE_BODY_BYTES_MAX = MIB;

/** A value of a store, 256 KiB as JSON, written with escapes for every character. */
export const VALUE_BODY_BYTES_MAX = 6 * 256 * 1024 + 64 * 1024;

/** A form of an app, filled in by hand. */
export const FORM_BODY_BYTES_MAX = 256 * 1024;

/** Of all bodies that are being read or handled: this part is left to those of 64 KiB at most. */
export const SMALL_BODIES_SHARE = 1 / 4;

/** How soon a sender may try again when all bodies together are too large. */
export const BODIES_RETRY_MS = 1_000;

/**
 * Bytes of a body that are looked at before others get their turn: 1 to 7 ms, by what is in it.
 * A part that is parsed whole has `PIECE_BYTES_MAX` at most; of its long texts only the escapes
 * count. That is 25 ms for the worst, an object of 30,000 names. The largest that is legal is a
 * store's value.
 */
export const SLICE_BYTES = 128 * 1024;
export const PIECE_BYTES_MAX = 320 * 1024;

/** Fields of a body, and of an item of a list; and the name of one, which is read in one go. */
export const MEMBERS_MAX = 256;
export const NAME_BYTES_MAX = 1_024;

/** How long the items of a batch are read before others get their turn. */
export const READ_ITEMS_MS = 10;

/** Headers of a job and gates that it names, the port's own bounds. */
export const JOB_HEADERS_MAX = 64;
export const JOB_GATES_MAX = 16;

/** How long a connection that was refused may take to read why before it is destroyed. */
export const LINGER_MS = 1_000;

/** All headers of a request: Node's own bound, said here because it is promised. */
export const HEADER_BYTES_MAX = 16 * 1024;
export const HEADERS_MAX = 100;

/**
 * Requests of one connection that are not answered. A client may send some before the first answer,
 * though few do. One read of 64 KiB has room for 1,400, and all their answers would be in memory.
 */
export const UNANSWERED_MAX = 32;

/** A part of an address: a fairness key of 1 KiB, each byte as `%xx`, and a path of four. */
export const PARAM_CHARS_MAX = 4 * 1024 * 3;

/** How often connections are looked through for those that take too long. */
export const CONNECTIONS_CHECK_MS = 1_000;

/** Silence on a connection while it is answered: more than the longest poll. */
export const SOCKET_SILENCE_MS = 90_000;

/** Levels of nested values: what embedded producers may write, so that workers can read it. */
export const JSON_DEPTH_MAX = 500;

/** Items of one call, the port's own bound. */
export const BATCH_MAX = 10_000;

/** Jobs of one lease call, and the bytes of their payloads: an answer is one piece of JSON. */
export const LEASE_MAX = 1_000;
export const LEASE_PAYLOAD_BYTES_MAX = 16 * MIB;

/** Jobs of one page, and the payload that a list shows of one: the rest is asked for by id. */
export const JOBS_PAGE_MAX = 100;
export const LISTED_PAYLOAD_BYTES_MAX = 16 * 1024;
export const LISTED_START_BYTES = 256;

/** Lanes and entries of one page: the port's own bound. */
export const PAGE_MAX = 1_000;

/** Entries of one page of a store: values of 256 KiB make an answer of 25 MiB. */
export const STORE_PAGE_MAX = 100;

/** Keys of one server: all are in memory. */
export const KEYS_MAX = 10_000;

/** Permissions of one key: each is looked at on every request. */
export const GRANTS_MAX = 64;

/** Patterns of gates in one grant. */
export const GRANT_GATES_MAX = 64;

/** The name of a key: for people. */
export const KEY_NAME_CHARS_MAX = 100;

/** A key that the operator brings along: as long as those made here are secret. */
export const ROOT_KEY_CHARS_MIN = 32;

/** Addresses whose wrong keys are counted; beyond it the oldest is forgotten. */
export const FAILING_ADDRESSES_MAX = 10_000;

/** An open stream of events says that it is alive this often. */
export const EVENTS_HEARTBEAT_MS = 15_000;

/** A reader of events that takes nothing for this long is gone. */
export const EVENTS_STALL_MS = 30_000;

/** Queues, lanes of a queue, queues whose lanes are shown, and gates that have their own series. */
export const METRIC_QUEUES_MAX = 100;
export const METRIC_LANES_MAX = 10;
export const METRIC_LANE_QUEUES_MAX = 10;
export const METRIC_GATES_MAX = 100;

/** How long lanes are waited for: a queue of which a partition is away shows none. */
export const METRIC_LANES_MS = 1_000;

/** A lane's key as a label: enough to know it again. */
export const LABEL_CHARS_MAX = 100;

/** A commit on its way for longer, or work left undone for longer, is no progress. */
export const STUCK_MS = 10_000;

/** How long requests that are under way may take to end when the server closes. */
export const CLOSE_TIMEOUT_MS = 10_000;

/** What an app's action may be given: a form filled in by hand. */
export const ACTION_FIELDS_MAX = 32;
export const ACTION_VALUE_CHARS_MAX = 64 * 1024;

/** What an app's page is asked to show: an id of the app's own. */
export const APP_SHOW_CHARS_MAX = 200;

/** One point of a queue's history in 5 s, for half an hour: 24 bytes a point, 8.6 kB a queue. */
export const HISTORY_EVERY_MS = 5_000;
export const HISTORY_POINTS = 360;

/**
 * Longer ranges at a coarser resolution, kept over a restart: a point a minute for six hours, and
 * one in five minutes for a day. That is 15 kB of memory a queue.
 */
export const HISTORY_RANGES = {
  "6h": { everyMs: 60_000, points: 360 },
  "24h": { everyMs: 300_000, points: 288 },
} as const;

/** Queues of a moment that is stored: 60 bytes each, 8 MB in all when all of them are busy. */
export const HISTORY_STORED_QUEUES_MAX = 200;

/** Queues that have the longer ranges. */
export const HISTORY_RANGE_QUEUES_MAX = 500;

/** Queues whose history is kept; beyond it the newest have none. */
export const HISTORY_QUEUES_MAX = 2_000;

/** Queues of one page of the overview, and points of a line that is as small as a word. */
export const OVERVIEW_PAGE_MAX = 100;
export const SPARK_POINTS = 36;

/** Workers of all queues in one answer: a search finds the others. */
export const WORKERS_MAX = 500;

/** Jobs that it lists for each of them: 10,000 jobs in all. */
export const WORKERS_HELD_JOBS_MAX = 20;

/** Jobs of a drawn flow: more are no picture, and each of them is two questions to the broker. */
export const FLOW_GRAPH_JOBS_MAX = 300;

/**
 * Gates named for a queue that does not move, and how long all gates may be looked through for
 * one page; of further queues only the gate of the oldest job is named.
 */
export const STANDING_GATES_MAX = 3;
export const GATED_LOOK_MS_MAX = 50;

/** A reader of the pulse hears of changes this often at most, and that all is well this often. */
export const PULSE_MS = 1_000;
export const PULSE_QUIET_MS = 5_000;

/** While a connection of a user of another server is open, that server is asked this often. */
export const USER_ASKED_MS = 5_000;

/** Names of changed queues that a pulse carries: a page shows no more. */
export const PULSE_QUEUES_MAX = 200;

/** Jobs that one search looks at, and how long it takes at most: its cursor continues it. */
export const SEARCH_JOBS_MAX = 5_000;
export const SEARCH_MS_MAX = 150;

/** How soon a node asks again for keys that no node serves yet: a takeover takes seconds. */
export const REACH_AGAIN_MS = 250;

/** A wait for a change of the cluster: half of what proxies allow. */
export const CLUSTER_WAIT_MS_MAX = 30_000;

/** The most that the limit of one key may be: beyond this it is none. */
export const KEY_REQUESTS_PER_SECOND_MAX = 1_000_000;

/** Of a wrong value or name, what the refusal repeats. */
export const SHOWN_CHARS_MAX = 64;

/** How long the other end of a stream may take to agree to its end before it is cut off. */
export const STREAM_CLOSE_MS = 1000;

/** A worker whose connection dropped may come back in this time and keep its leases. */
export const RESUME_MS = 2000;

/** A client says something this often; one that is silent for twice as long is taken to be gone. */
export const STREAM_HEARTBEAT_MS = 10_000;
export const SILENCES_MAX = 2;

/** From the connection to the greeting: a program sends it at once, a slow attacker does not. */
export const HANDSHAKE_MS = 10_000;

/**
 * Messages of one connection. A client puts all that it sends in one turn of its event loop into
 * one message, so a busy one sends some thousand a second. What was held up for two seconds may
 * arrive at once. A ping needs an answer and brings nothing, so it counts as 50 messages.
 */
export const MESSAGES_PER_SECOND_MAX = 50_000;
export const MESSAGES_BURST = 100_000;
export const PING_MESSAGES = 50;

/** Messages and pings before the welcome: one greeting is right. */
export const GREETING_MESSAGES_MAX = 16;

/** Parts of one message. Clients need not split any; the largest message has parts of 384 KiB. */
export const FRAGMENTS_MAX = 64;

/** Streams in all and from one address: each costs a socket and some kilobytes. */
export const STREAMS_MAX = 10_000;
export const STREAMS_PER_ADDRESS_MAX = 1000;

/**
 * Streams to partitions from one address, which are counted apart: a program has one for each
 * partition that it uses. Half of all, so that no machine keeps the others out.
 */
export const PARTITION_STREAMS_PER_ADDRESS_MAX = 5000;

/** Bytes that wait in a socket: above it no more jobs are asked for and nothing more is read. */
export const BUFFERED_BYTES_MAX = 4 * 1024 * 1024;

/** Payloads that may be on their way to one consumer before its socket is looked at again. */
export const WINDOW_BYTES = 4 * 1024 * 1024;

/** Jobs of that window: few until their size is known, many when they turn out to be small. */
export const WINDOW_JOBS_FIRST = 64;
export const WINDOW_JOBS_MAX = 4000;

/** Credits of one consumer, the broker's own bound. */
export const CREDITS_MAX = 100_000;

/** Sent and not yet confirmed by the client: a client that never confirms is cut off. */
export const KEPT_BYTES_MAX = 64 * 1024 * 1024;

export interface SessionBounds {
  /** Requests that are read and not answered: above it nothing more is read. */
  readonly requestsBytesMax: number;
  readonly requestsMax: number;
  /** Polls, readers and calls that wait for the end of a job. */
  readonly waitingMax: number;
  readonly consumersMax: number;
}

/** Of the session of one client. */
export const CLIENT_BOUNDS: SessionBounds = {
  requestsBytesMax: 32 * 1024 * 1024,
  requestsMax: 10_000,
  waitingMax: 10_000,
  consumersMax: 1000,
};

/**
 * Of a session that carries all the clients of another node. Each of them is bounded there, and
 * there are up to `STREAMS_MAX`: this lets each have ten of everything. The bytes are twice
 * what a node has unanswered before it makes adds wait on its own side, so that acks do not wait
 * behind adds that find no room.
 */
export const NODE_BOUNDS: SessionBounds = {
  requestsBytesMax: 128 * 1024 * 1024,
  requestsMax: 100_000,
  waitingMax: 100_000,
  consumersMax: 100_000,
};

/** Entries of the audit log: about 500 bytes of memory each. */
export const AUDIT_ENTRIES_MAX = 10_000;
export const AUDIT_PAGE_MAX = 500;
export const AUDIT_ON_CHARS_MAX = 200;
export const AUDIT_DETAIL_CHARS_MAX = 300;

/** The same action again within this time is counted, so that a loop does not fill the log. */
export const AUDIT_REPEAT_MS = 1_000;

/** How often entries beyond the bound are looked for. */
export const AUDIT_TRIM_MS = 10 * 60_000;
/** And after how many new ones, so that a loop cannot fill the memory in between. */
export const AUDIT_TRIM_EVERY = 2_000;

/** Webhooks of one server, all in memory, and queues that one names. */
export const WEBHOOKS_MAX = 1_000;
export const WEBHOOK_QUEUES_MAX = 64;
export const WEBHOOK_URL_CHARS_MAX = 2_048;

/** Messages that are being stored at once; beyond it events wait. */
export const WEBHOOK_SENDS_MAX = 256;

/**
 * How often it is noted up to when all messages are stored, and webhooks are read that another node
 * has made.
 */
export const WEBHOOK_NOTE_MS = 5_000;

/** Leases of a lost worker that are returned in one call. */
export const RETURNED_AT_ONCE = 1000;

/** Leases noted for a session before those that ran out are looked for. */
export const HELD_FIRST_LOOK = 10_000;

/** Steps of a search among a session's leases: 5 ns each, and what a lease in order adds. */
export const SEARCH_STEPS_MAX = 100_000;
export const SEARCH_STEPS_EARNED = 8;

/** Events that travel together. */
export const EVENTS_AT_ONCE = 256;

/** Longer operation ids are hashed: a broker takes 255 characters, and stores each of them. */
export const OWN_ID_CHARS_MAX = 100;

/**
 * Bytes of one thread's connections that the main thread has not handled: beyond it the thread
 * reads no more. That is 10 ms of work, so that the thread does not rest while the main one works.
 */
export const UNTAKEN_BYTES_MAX = 8 * MIB;
