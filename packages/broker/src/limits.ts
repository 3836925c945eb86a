/** Dependencies that one job of a flow gets in one turn: about a millisecond. */
export const FLOW_LINKS_PER_TURN = 2000;

/**
 * Every bound on what comes from outside and on what this process may hold, each with its reason.
 * Those that are options are rows of a table in `protocol`.
 */

/** Result of one job: it is kept in memory as long as the job is. */
export const RESULT_BYTES_MAX = 1024 * 1024;

/** Results of one page of dependencies; the last of them may go beyond. */
export const RESULTS_PAGE_BYTES = 1024 * 1024;

/** Results of jobs that others wait for stay in memory up to this size: a body takes as much. */
export const RESULT_INLINE_BYTES_MAX = 512;

/**
 * Payloads of a batch that the engine is given at once. How many jobs that may be is the engine's
 * own bound, `ADD_STEPS_MAX`.
 */
export const ADD_SLICE_BYTES = 4 * 1024 * 1024;

/**
 * Items of other batches (acks, nacks, extensions, cancels, retries) in one turn of the event loop:
 * at most 16 µs each, with 16 gates, so 4 ms.
 */
export const ITEMS_PER_TURN = 250;

/**
 * A scan for a text in payloads: jobs and bytes of one call, some 100 ms, and bytes of one turn of
 * the event loop, at most 2 ms.
 */
export const SCANNED_JOBS_MAX = 20_000;
export const SCANNED_BYTES_MAX = 256 * 1024 * 1024;
export const SCANNED_PER_TURN_BYTES = 2 * 1024 * 1024;

/** Jobs of one step of an action on many: at most 16 µs each, so that adds beside it wait 1 ms. */
export const BULK_STEP_JOBS = 50;

/** The same for the first step, and while other calls write. */
export const BULK_STEP_JOBS_BESIDE = 10;

/** Actions on many jobs that run at once: each takes its steps between other calls. */
export const BULKS_RUNNING_MAX = 10;

/** Such actions that are remembered once they are over. */
export const BULKS_KEPT = 100;

/** A payload that such an action gives to its jobs, as JSON: it is remembered with it. */
export const BULK_PAYLOAD_BYTES_MAX = 256 * 1024;

/** Facts are gathered in chunks of at most this size; a larger fact gets a chunk of its own. */
export const CHUNK_BYTES_MAX = 1024 * 1024;
/** Smaller ones cost more than they hold. */
export const CHUNK_BYTES_MIN = 1024;

/** What comes in one turn shares a commit up to here: about as long in the making as a sync. */
export const COMMIT_BYTES_MIN = 256 * 1024;

/** One commit in one append: as much as adds may leave unsynced. Beyond it a commit is cut. */
export const APPEND_BYTES_MAX = 64 * 1024 * 1024;

/** Parts of a commit are put together in memory that is kept; larger ones are rare. */
export const JOINED_BYTES_MAX = 8 * 1024 * 1024;

/** Payloads of one add under an operation id: what one append takes, with its answer. */
export const OPERATION_BYTES_MAX = 64 * 1024 * 1024;

/** Adds that wait for the log, or for room in a full queue. More are refused. */
export const WAITING_ADDS_MAX = 10_000;

/** When a caller should retry after a refusal because the log is too slow. */
export const BUSY_RETRY_MS = 250;

/** The wall clock runs a little faster or slower than ours; from this much on it has stepped. */
export const WALL_STEP_MS = 10;

/** How often a broker with nothing else to do looks whether the wall clock has stepped. */
export const WALL_CHECK_MS = 1000;

/** The error of a failed job: a message, which some libraries fill with a response. */
export const ERROR_BYTES_MAX = 8 * 1024;

/** The stack of that error: some forty calls, kept in memory and in the log with every such job. */
export const STACK_BYTES_MAX = 4 * 1024;

/** Letters that one step of a redrive by id puts back: as many as one without ids, 4 ms. */
export const REDRIVE_SLICE = 250;

/** Lines about a job in one call, and one of them; a longer one loses its end. */
export const LOG_LINES_MAX = 200;
export const LOG_LINE_BYTES_MAX = 1024;

/** How often the progress of one job is written to the log, and how large it is as JSON. */
export const PROGRESS_EVERY_MS = 1000;
export const PROGRESS_BYTES_MAX = 8 * 1024;

/** The name of an operation: a UUID, or what a caller makes of its own ids. */
export const OPERATION_ID_BYTES_MAX = 255;

/** A refused value that is remembered with the answer of its operation. */
export const REFUSED_VALUE_CHARS_MAX = 256;

/** One value of a store, as JSON: it is kept in memory. */
export const STORE_VALUE_BYTES_MAX = 256 * 1024;

/** How long a group is held for missing members when the client that held it is gone. */
export const GROUP_HELD_MS = 60_000;

/** Jobs that a list of the workers of one queue names in all: about a megabyte as JSON. */
export const HELD_JOBS_OF_QUEUE_MAX = 10_000;

/** Queues whose lanes are being paged through and whose sums are kept: one per screen or so. */
export const SURVEYS_MAX = 16;

/**
 * How long the oldest jobs that were found are good for: at least this, and so many times what the
 * look for them took, which then is a twentieth of the time at most.
 */
export const OLDEST_KEPT_MS = 500;
export const OLDEST_KEPT_TIMES = 20;

/** How long a partition that asks for permits waits for them before it asks again. */
export const LEND_HOLD_MS = 1000;

/** A call for permits without an answer in this time is lost: three times what it may wait. */
export const LEND_ANSWER_MS = 3000;

/** After a call for permits that failed; the home may be on its way to another process. */
export const LEND_RETRY_MS = 100;

/** How long a poll that waits for nothing waits for homes to say what they can lend now. */
export const LEND_POLL_MS = 300;

/** Answers of homes that such a poll hears: a call that says all comes after two that fail. */
export const HOMES_ASKED_MAX = 8;

/** A borrower that is silent for this long gets no permits, because it would not use them. */
export const LEND_SILENT_MS = 3000;

/** The secret that seals the tokens of leases: the length of a key of SipHash. */
export const LEASE_SECRET_BYTES = 16;

/**
 * A log counts from when a fact was stored, which is a little after it happened. So much is made up
 * for when it goes to another owner, or time would fall behind a little each time.
 */
export const CATCH_UP_MS = 250;

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

/** Schedules of one broker: about a kilobyte each, and each checkpoint writes all of them. */
export const SCHEDULES_MAX = 250_000;

/** The payload of a schedule is in memory and in each checkpoint: more is stored apart. */
export const SCHEDULE_PAYLOAD_BYTES_MAX = 64 * 1024;

/** Years of one time zone whose changes are known: each takes a millisecond to find. */
export const ZONE_YEARS_MAX = 64;

/** Cron expressions that are kept ready. */
export const CRONS_MAX = 1000;

/** Ticks that are computed in one turn of the event loop: 200 take about 3 ms. */
export const TICKS_PER_TURN = 200;

/** Missed ticks listed one by one: more than anyone reads; for `catchUp: "all"`, the promise. */
export const TICKS_TOLD_MAX = 100;
export const CATCH_UP_JOBS_MAX = 1000;

/** How long a schedule rests if its plan cannot be computed, as when its time zone is gone. */
export const PLAN_RETRY_MS = 60_000;

/** Ticks of one call that backfills a schedule. */
export const BACKFILL_MAX = 1000;
/** Results of steps in one answer; the rest is asked for with its cursor. One alone may be more. */
export const STEPS_PAGE_BYTES = 1024 * 1024;
