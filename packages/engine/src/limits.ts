/**
 * The bounds that the engine keeps itself, each with its reason and a test at it, below and above.
 * The tables of options, in `protocol`, bound the options of jobs, queues and gates.
 */

/**
 * How long a free place of a gate may idle for a job with several gates, at a time and per such job
 * dispatched. Most jobs are shorter, so the release that it waits for is likely within this time.
 */
export const IDLE_MS = 1000;

/** Tiers of one queue: strict tiers are looked through one by one for every free worker. */
export const TIERS_MAX = 16;

/** Weights are whole numbers, so that shares are counted in integers without drift. */
export const WEIGHT_MAX = 1_000_000;

/** Jobs in one call: at 0.5 µs each, 10,000 plain jobs take the 5 ms that one call may take. */
export const BATCH_JOBS_MAX = 10_000;

/**
 * Work of one call that adds jobs, in steps (`addSteps`), for at most 5 ms a call. Measured for
 * 1,000 steps: plain jobs 0.3 ms, jobs with a key of their own 2.4 ms, 142 paths of four new levels
 * 1.2 ms, 24 jobs with such a path and 16 new gates that have limits 2.8 ms. A fixed number of jobs
 * does not do: 250 of the last kind take 20 ms. Callers cut larger batches here.
 */
export const ADD_STEPS_MAX = 1000;

/** Gates of a job, those of the step that it waits for included: a turn at each is a step. */
export const JOB_GATES_MAX = 16;

/** Steps of one job. Its record contains them: 1,000 steps take about 100 KiB. */
export const STEPS_MAX = 1000;

/** Signals of one job that no step has taken. */
export const SIGNALS_MAX = 100;

/** Results and signals of one job in all. They are in the log, and read at each continuation. */
export const STEP_BYTES_MAX = 16 * 1024 * 1024;

/** What is kept of the lines that a handler writes about its job: the newest. */
export const LOG_LINES_MAX = 200;
export const LOG_CHARS_MAX = 32 * 1024;

/** A worker that needs longer extends its lease; a crashed one is noticed within a day. */
export const LEASE_MS_MAX = 24 * 3_600_000;

/** Weight rules of one queue: copied at every change of it, 10,000 in well under 5 ms. */
export const WEIGHT_RULES_MAX = 10_000;

/** Free slots one worker may name: far more than it can run, and sums stay exact. */
export const SLOTS_MAX = 1_000_000;

/** Answers of one page or one call. */
export const PAGE_MAX = 100_000;

/** Entries of a store in one scan: a page of them is copied in about a millisecond. */
export const SCAN_MAX = 10_000;

/**
 * Operations that are remembered for repeated calls, for how long, and their answers in all:
 * a batch of new jobs is one answer. Ten minutes outlast any reconnection, and memory stays small.
 */
export const OPERATIONS_MAX = 10_000;
export const OPERATION_MS = 10 * 60_000;
/** Sources of numbered operations: beyond it the one that was silent longest is forgotten. */
export const NUMBERED_SOURCES_MAX = 10_000;
export const OPERATION_ANSWERS_MAX = 50_000;

/**
 * What a restored engine leaves out of its counts: more than was issued since the copy was made.
 * A copy that is a day old misses 864 million at 10,000 a second; the count has room for millions
 * of such steps.
 */
export const RESTORED_SKIP = 1_000_000_000;
