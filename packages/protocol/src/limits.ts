/**
 * Every bound on what calls, jobs, queues and gates can be given, each with its reason. The tables
 * of calls and options enforce them, and each has a test at it, below it and above it.
 */

/** Items of one call, the engine's own bound. */
export const BATCH_MAX = 10_000;

/** Headers of one job: as many and as much as HTTP servers allow. */
export const HEADERS_MAX = 64;
export const HEADERS_BYTES_MAX = 8 * 1024;

/** Jobs that a list of workers names for each of them: the others are found as running jobs. */
export const HELD_JOBS_MAX = 100;

/** Answers of one page. */
export const PAGE_MAX = 1000;

/** Jobs that one consumer may have on its way at once. */
export const CREDITS_MAX = 100_000;

/** The longest time a poll for jobs may wait: proxies give up after a minute. */
export const LEASE_WAIT_MS_MAX = 60_000;

/** Names of queues, gates, tiers and groups: the longest file name, and one length byte on disk. */
export const NAME_BYTES_MAX = 255;

/** Fairness and dedupe keys: room for a URL or a path, and a lane stays near 300 bytes. */
export const KEY_BYTES_MAX = 1024;

/** Levels of a path: region, tenant, user, task. Each level is one more ring to step through. */
export const PATH_LEVELS_MAX = 4;

/** Gates of one job: each is looked at on every dispatch of it, and a claim holds all of them. */
export const JOB_GATES_MAX = 16;

/** Tiers of one queue: strict tiers are looked through one by one for every free worker. */
export const TIERS_MAX = 16;

/** Weights and costs are whole numbers, so that shares are counted in integers without drift. */
export const WEIGHT_MAX = 1_000_000;
export const COST_MAX = 1_000_000;

/** Deliveries of one job: with the longest backoff a thousand attempts last for days. */
export const ATTEMPTS_MAX = 1000;

/** Deliveries that cost no attempt count too: far more than a job that waits for a provider has. */
export const DELIVERIES_MAX = 1_000_000;

/** A worker that needs longer extends its lease; a crashed one is noticed within a day. */
export const LEASE_MS_MAX = 24 * 3_600_000;

/** Ten years: more is a mistake of unit, and sums of two such durations stay exact. */
export const DURATION_MS_MAX = 10 * 366 * 24 * 3_600_000;

/** Points in time: the range of a JavaScript date. */
export const TIME_MS_MAX = 8.64e15;

/** Ready, delayed and leased jobs of one queue: rows are numbered in 31 bits, over all queues. */
export const CAPACITY_JOBS_MAX = 1_000_000_000;

/** Payload bytes of one queue: beyond any disk, and counted exactly in a double. */
export const CAPACITY_BYTES_MAX = 2 ** 50;

/** Finished jobs that are kept: they are rows like waiting ones. */
export const RESULTS_JOBS_MAX = 10_000_000;

/** Jobs that one may wait for: those of an add are looked up in well under a millisecond. */
export const JOB_AFTER_MAX = 1000;

/** The same in a flow, where they are looked up a thousand at a time. */
export const FLOW_AFTER_MAX = 100_000;

/** Jobs of a flow in one call; a larger one is opened, filled and sealed. */
export const FLOW_JOBS_MAX = 10_000;

/** A delay that grows faster than this reaches any maximum in one step. */
export const FACTOR_MAX = 1000;

/** Weight rules of one queue: copied at every change of it, 10,000 in well under 5 ms. */
export const WEIGHT_RULES_MAX = 10_000;

/** Bytes of a weight rule's key: four levels of a path with the slashes between them. */
export const WEIGHT_RULE_BYTES_MAX = PATH_LEVELS_MAX * (KEY_BYTES_MAX + 1);

/** The slowest rate, one token in eleven days; its rounding to 1e-9 is then below 0.1 %. */
export const RATE_MIN = 1e-6;

/** Tokens a second, and tokens in a bucket: in milli-tokens with a debt still far below 2^53. */
export const RATE_MAX = 1e9;
export const BURST_MAX = 1e9;

/** Sliding windows of one gate: minute, hour, day, month and as many again. */
export const WINDOWS_MAX = 16;

/** Takes of one window: an exact window remembers each, 16 bytes a millisecond in use. */
export const WINDOW_LIMIT_MAX = 1_000_000;

/** Jobs leased through one gate at once: as many as a queue holds leased by default. */
export const CONCURRENCY_MAX = 1_000_000;

/** Handlers side by side in one worker, and jobs held ready: each holds its payload in memory. */
export const HANDLERS_MAX = 100_000;

/** A cron expression with lists in all fields, or the name of a time zone, is far shorter. */
export const CRON_CHARS_MAX = 256;

/** Times of one schedule: they are stored with it, and told again with each checkpoint. */
export const SCHEDULE_TIMES_MAX = 1000;

/** Rungs of a ladder: ten are usual. */
export const LADDER_RUNGS_MAX = 32;

/** The reason of a cooldown is kept, saved and shown: a line of text, not a response body. */
export const REASON_BYTES_MAX = 1024;

/** Events that wait for one reader; beyond it the reader is cut off. */
export const EVENTS_WAITING_MAX = 10_000;

/** The layout that this code speaks. */
export const WIRE_VERSION = 1;

/**
 * One frame, and one message of several: the largest payload that a broker may be given to take,
 * with its headers and the rest of its job.
 */
export const FRAME_BYTES_MAX = 24 * 1024 * 1024;

/**
 * Jobs on their way to a consumer are cut into messages of about this size, unless one alone is
 * larger. It is less than what one read of a socket brings: a message that lies in one read is used
 * where it is, and only those across two reads are copied. Of messages of 2 MiB all were.
 */
export const DELIVERY_BYTES_AIM = 32 * 1024;

/** Frames of one turn of the event loop travel as one message up to about this size. */
export const MESSAGE_BYTES_AIM = 256 * 1024;

/** The key, names and numbers of a greeting: an unknown client may not send more. */
export const HELLO_BYTES_MAX = 8 * 1024;

/** Levels of nested values in JSON: deeper ones could exhaust the stack of who writes them out. */
export const JSON_DEPTH_MAX = 600;

/**
 * The JSON of the requests of one message, counted before it is parsed: its bytes, its values
 * (commas and opening brackets outside of texts), and the names that differ. Each of them takes
 * 30 ms to parse at most: 2.5 ns for a byte of text, 80 ns for a value, 1.4 µs for a name that was
 * not seen before. A batch of 10,000 jobs with all their options has 200,000 values.
 */
export const JSON_BYTES_MAX = 8 * 1024 * 1024;
export const JSON_VALUES_MAX = 250_000;
export const JSON_NAMES_MAX = 20_000;

/** The arguments of a call that names a thing and some options: as much as over HTTP. */
export const SMALL_CALL_BYTES_MAX = 64 * 1024;

/** Partitions of a cluster: each has a stream of its own, and nodes claim them in turn. */
export const PARTITIONS_MAX = 240;

/** Copies of a stream, JetStream's own bound. */
export const REPLICAS_MAX = 5;

/** Steps of one job, and bytes of the name of one. */
export const STEPS_MAX = 1000;
export const STEP_NAME_BYTES_MAX = 255;

/** The result of a step, or the value of a signal, as JSON. */
export const STEP_VALUE_BYTES_MAX = 1024 * 1024;
