/** Every bound of the log, each with its reason. */

/** Facts of one append: a batch of 10,000 jobs of 25 KiB. A frame is gathered in memory whole. */
export const FACTS_BYTES_MAX = 256 * 1024 * 1024;

/**
 * A segment by default: the unit of trimming. A broker keeps its log within twice the live data
 * and 64 MiB, and its proof needs files of an eighth of that; it lowers this when it may hold less.
 */
export const SEGMENT_BYTES = 8 * 1024 * 1024;

/** Smaller segments are mostly headers and directory syncs; tests roll often at this size. */
export const SEGMENT_BYTES_MIN = 1024;

/** A frame names the distance to what was synced before it, inside its segment, in 32 bits. */
export const SEGMENT_BYTES_MAX = 1024 * 1024 * 1024;

/**
 * Bytes under one checksum, a part of the format: what is read to serve one payload. The checksum
 * of 64 KiB takes 22 µs, that of a whole batch of 1 MiB would take 370 µs for each job in it.
 */
export const BLOCK_BYTES = 64 * 1024;

/** Memory that the writer keeps for its next frame: small ones are the most frequent. */
export const SPARE_BYTES_MIN = 64 * 1024;
/** A burst arrives in commits of up to 1 MB; what a huge frame took is given back. */
export const SPARE_BYTES_MAX = 4 * 1024 * 1024;

/** One read at replay: from 256 KiB to 4 MiB it makes no difference. */
export const CHUNK_BYTES = 1024 * 1024;

/**
 * A segment up to this size is read whole at replay, while the one before it is gone through: two
 * of them are in memory. Most have 8 MiB, a large batch has one of its own.
 */
export const AHEAD_BYTES_MAX = 16 * 1024 * 1024;

/** One read for `read`: the largest frame head (16.1 KiB) and one block, or many small frames. */
export const REGION_BYTES = 128 * 1024;

/** Blocks that `read` keeps: FIFO dispatch needs a few, fair dispatch one for each busy lane. */
export const READ_CACHE_BYTES = 8 * 1024 * 1024;
export const READ_CACHE_BYTES_MAX = 4 * 1024 * 1024 * 1024;

/** Frame heads that `read` keeps: 100 bytes each. */
export const READ_HEADS_MAX = 16_384;

/** Segments open for reading at once: 512 MiB of payloads, far below the usual 1,024 files. */
export const OPEN_SEGMENTS_MAX = 64;

/**
 * Torn tails that were cut off and are kept for someone to look at: a handful of crashes, and in
 * all a quarter of what a log may hold beyond its live data. Of a larger tail the rest is not kept.
 */
export const TORN_FILES_MAX = 8;
export const TORN_BYTES_MAX = 16 * 1024 * 1024;

/** Each try means that another process was faster: beyond this the directory behaves oddly. */
export const LOCK_TRIES_MAX = 100;

/** A lock names a process in a line; anything longer is not a lock of ours. */
export const LOCK_BYTES_MAX = 4096;

/** A note of a repair names each file: 16,384 of them, a log of 1 TiB. */
export const REPAIR_NOTE_BYTES_MAX = 1024 * 1024;

/**
 * Messages of a NATS log on their way at once, and messages of a fence, a part of the format: a
 * fence is as long as all that its predecessor may still have on the way, so none fits behind it.
 */
export const IN_FLIGHT_MAX = 32;

/** One message of a NATS log: what a read fetches, a quarter of what servers take by default. */
export const MESSAGE_BYTES_MAX = 256 * 1024;

/** Room in a message for what NATS itself puts before it: subject, reply, expectations. */
export const ENVELOPE_BYTES = 1024;

/** How long servers know a message again that was sent twice: JetStream's own default. */
export const DUPLICATE_WINDOW_MS = 120_000;

/** How long nothing may be confirmed: an election takes up to 10 s, a server's restart longer. */
export const NATS_DEADLINE_MS = 30_000;

/** One attempt: an answer takes milliseconds, and what is asked twice is answered twice. */
export const ACK_WAIT_MS = 2000;
export const ACK_WAIT_MS_MIN = 50;

/** Between two attempts: at first, and at most. A stream that has a new leader is found soon. */
export const NATS_RETRY_MS = 50;
export const NATS_RETRY_MS_MAX = 250;

/** To be connected to a NATS server: one that is there answers within milliseconds. */
export const NATS_CONNECT_MS = 5000;

/** Between two tries to be connected again, and as much more by chance: what is back is found. */
export const NATS_RECONNECT_MS = 250;

/** A NATS server that was left because it was of no use is not tried again so soon. */
export const SERVER_LEFT_MS = 30_000;

/** A NATS server that stopped without a word is given up after two of these. */
export const NATS_PING_MS = 2000;

/**
 * Of three servers one leads, so three consumers at a time miss it in 30 % of the tries; one at a
 * time missed it in 67 %, and a try takes three calls of JetStream.
 */
export const CONSUMERS_AT_ONCE = 3;
export const LEADER_TRIES = 20;

/** Messages asked for at once at replay, while as many are gone through: 32 MiB at most. */
export const REPLAY_MESSAGES = 64;

/** How long a server waits for these, and keeps the consumer of a reader that is gone. */
export const REPLAY_WAIT_MS = 5000;

/** How long a consumer may be silent: two missed heartbeats, and a moment. */
export const FETCH_WAIT_MS = 2 * REPLAY_WAIT_MS;

/** How often the end of a log that is followed is looked at: more comes all the time. */
export const FOLLOW_MS = 50;

/** The same, for one to which nothing is written. */
export const FOLLOW_MS_MAX = 1_000;

/** What a NATS server says of itself: some hundred bytes, and a list of its cluster. */
export const INFO_CHARS_MAX = 65_536;

/** How long nothing may be confirmed by PostgreSQL: a restart with recovery takes some seconds. */
export const POSTGRES_DEADLINE_MS = 30_000;
export const POSTGRES_DEADLINE_MS_MAX = 3_600_000;

/** One statement: a commit takes milliseconds, and a connection without an answer is given up. */
export const POSTGRES_ANSWER_MS = 10_000;
export const POSTGRES_ANSWER_MS_MIN = 50;

/** Between two tries, at first and at most: a server that is back is found soon. */
export const POSTGRES_RETRY_MS = 50;
export const POSTGRES_RETRY_MS_MAX = 1000;

/** One entry of a PostgreSQL log: what a read fetches. */
export const ENTRY_BYTES_MAX = 256 * 1024;

/**
 * Statements on their way at once: while one commits the next one is at the server already. The
 * broker gathers on its own, so more than a few never wait.
 */
export const POSTGRES_IN_FLIGHT_MAX = 4;

/** Entries of one statement, and their bytes: PostgreSQL allows 65,535 parameters. */
export const POSTGRES_ROWS_MAX = 512;
export const POSTGRES_GROUP_BYTES_MAX = 4 * 1024 * 1024;

/** Bytes that a replay fetches at once while as many are gone through, and rows of it. */
export const POSTGRES_PAGE_BYTES = 8 * 1024 * 1024;
export const POSTGRES_PAGE_ROWS_MIN = 32;
export const POSTGRES_PAGE_ROWS_MAX = 8192;

/** Facts that a copy of a log has on their way: enough that neither end waits for the other. */
export const COPY_BYTES_MAX = 8 * 1024 * 1024;
