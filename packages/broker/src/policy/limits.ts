/** Bounds on policies, each with its reason. */

/** A template is rendered for every job: long enough for a key, too short to be a payload. */
export const TEMPLATE_CHARS_MAX = 1024;

/** Values of one choice: plans, regions, tiers of customers; not one for each customer. */
export const CHOICE_VALUES_MAX = 1000;

/** Gates of one job and levels of a path: the engine's own bounds. */
export const GATES_MAX = 16;
export const PATH_LEVELS_MAX = 4;

/** Names and keys, the engine's own bounds: longer ones are cut, so that no job is refused. */
export const NAME_CHARS_MAX = 255;
export const KEY_BYTES_MAX = 1024;

/** What numbers may be, the engine's own bounds: others fall away. */
export const WEIGHT_MAX = 1_000_000;
export const COST_MAX = 1_000_000;
export const ATTEMPTS_MAX = 1000;
export const LEASE_MS_MAX = 24 * 3_600_000;
export const DURATION_MS_MAX = 10 * 366 * 24 * 3_600_000;
export const TIERS_MAX = 16;

/** A policy as JSON: it is a part of the queue's configuration, which is written as one fact. */
export const POLICY_BYTES_MAX = 256 * 1024;

/** A script: longer ones are programs, and belong into a worker. */
export const SOURCE_BYTES_MAX = 64 * 1024;

/** What one script may hold in each thread. */
export const LUA_MEMORY_BYTES = 8 * 1024 * 1024;

/** One call of a script: beyond the first it is interrupted, beyond the second its thread ends. */
export const SOFT_LIMIT_MS = 5;
export const HARD_LIMIT_MS = 50;

/** The hard limit is one of processor time; on a machine that gives none, this ends it as well. */
export const HARD_WALL_MS = 500;

/** How often a thread that works is looked at. */
export const WATCH_MS = 10;

/** A batch that takes longer is answered in part, so that the scripts of others get their turn. */
export const BATCH_MS = 20;

/** Jobs and bytes that cross to a thread at once: some milliseconds' work. */
export const BATCH_JOBS = 1000;
export const BATCH_BYTES = 1024 * 1024;

/** Threads for jobs: one that is stuck must not hold up the scripts of others. */
export const THREADS_MAX = 2;

/**
 * What a script is charged when its thread was ended: its limit, and the start of another thread,
 * which takes 60 to 100 ms of processor time.
 */
export const KILLED_MS = 150;

/** For how long after a proven script ran one thread is kept for those that are proven. */
export const PROVEN_MS = 10_000;

/** How long a job waits for its script; then the queue's templates and defaults apply. */
export const SCRIPT_WAIT_MS = 250;

/** After a trial run that cost a thread: how long those who share the name of its queue wait. */
export const TRIAL_REST_MS = 1000;

/** How long the thread of trial runs is kept: queues are often set one after the other. */
export const TRIAL_IDLE_MS = 10_000;

/** Trial runs that may wait under one name; a source has up to 64 KiB. */
export const TRIALS_WAITING_MAX = 100;

/** Scripts that a thread holds ready; the one that was used least lately gives way. */
export const STATES_MAX = 16;

/** Questions that may wait for a thread; adds beyond them are refused for a while. */
export const QUESTIONS_MAX = 100_000;

/**
 * Failures in a row after which a script rests, and for how long. One that cost a thread rests at
 * once, and twice as long each time until a call succeeds.
 */
export const FAILURES_MAX = 3;
export const REST_MS = 10_000;
export const REST_MS_MAX = 5 * 60_000;

/** The configuration that scripts read: what lies beyond, in the order of its keys, is not seen. */
export const CONFIG_BYTES_MAX = 256 * 1024;
export const CONFIG_DEPTH_MAX = 16;

/** How long a lease is held beyond its end while a script decides on the failure. */
export const FAILURE_SCRIPT_MS = 1000;

/** Patterns of gates that a queue's workers may cool down: those of several grants of a key. */
export const COOLS_MAX = 256;
