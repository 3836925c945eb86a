/**
 * Every bound on what comes from outside, each with its reason. The parsers enforce them, and each
 * has a test at it, below it and above it.
 */

/** Names of queues, gates, tiers and groups: the longest file name, and one length byte on disk. */
export const NAME_BYTES_MAX = 255;

/** Fairness and dedupe keys: room for a URL or a path, and a lane stays near 300 bytes. */
export const KEY_BYTES_MAX = 1024;

/** Levels of a path: region, tenant, user, task. Each level is one more ring to step through. */
export const PATH_LEVELS_MAX = 4;

/** Gates of one job: each is looked at on every dispatch of it, and a claim holds all of them. */
export const JOB_GATES_MAX = 16;

/**
 * How long a free place of a gate may idle for a job with several gates, at a time and per such job
 * dispatched. Most jobs are shorter, so the release that it waits for is likely within this time.
 */
export const IDLE_MS = 1000;

/** Tiers of one queue: strict tiers are looked through one by one for every free worker. */
export const TIERS_MAX = 16;

/** Weights and costs are whole numbers, so that shares are counted in integers without drift. */
export const WEIGHT_MAX = 1_000_000;
export const COST_MAX = 1_000_000;

/** Jobs in one call: at 0.5 µs each, 10,000 plain jobs take the 5 ms that one call may take. */
export const BATCH_JOBS_MAX = 10_000;

/**
 * Work of one call that adds jobs, in steps (`addSteps`), for at most 5 ms a call. Measured for
 * 1,000 steps: plain jobs 0.3 ms, jobs with a key of their own 2.4 ms, 142 paths of four new levels
 * 1.2 ms, 24 jobs with such a path and 16 new gates that have limits 2.8 ms. A fixed number of jobs
 * does not do: 250 of the last kind take 20 ms. Callers cut larger batches here.
 */
export const ADD_STEPS_MAX = 1000;

/** Deliveries of one job: with the longest backoff a thousand attempts last for days. */
export const ATTEMPTS_MAX = 1000;

/**
 * Hand-outs of one job, also those that cost no attempt. They end a loop without end, and are far
 * more than a job needs that waits for a provider.
 */
export const DELIVERIES_DEFAULT = 250;

/** A worker that needs longer extends its lease; a crashed one is noticed within a day. */
export const LEASE_MS_MAX = 24 * 3_600_000;

/** Ten years: more is a mistake of unit, and sums of two such durations stay exact. */
export const DURATION_MS_MAX = 10 * 366 * 24 * 3_600_000;

/** Points in time: the range of a JavaScript date. */
export const TIME_MS_MAX = 8.64e15;

/** Weight rules of one queue: copied at every change of it, 10,000 in well under 5 ms. */
export const WEIGHT_RULES_MAX = 10_000;

/** A delay that grows faster than this reaches any maximum in one step. */
export const FACTOR_MAX = 1000;

/** Payload and headers of one job: the hard limit of a payload, and room for the headers. */
export const JOB_BYTES_MAX = 32 * 1024 * 1024;

/** Free slots one worker may name: far more than it can run, and sums stay exact. */
export const SLOTS_MAX = 1_000_000;

/** Answers of one page or one call. */
export const PAGE_MAX = 100_000;

/** Entries of a store in one scan: a page of them is copied in about a millisecond. */
export const SCAN_MAX = 10_000;

/**
 * Operations that are remembered for those who call again, for how long, and their answers in all:
 * a batch of new jobs is one answer. Ten minutes outlast any reconnection, and memory stays small.
 */
export const OPERATIONS_MAX = 10_000;
export const OPERATION_MS = 10 * 60_000;
export const OPERATION_ANSWERS_MAX = 50_000;
