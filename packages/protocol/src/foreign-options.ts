// Options of BullMQ and pg-boss that are tried here by habit, each with what Sluice has in its
// place. The table is part of the browser's bundle, so it has only names that are used often.

const SCHEDULE = "use sluice.schedule(name, { queue, cron }) or { every }";
const DEDUPE = "use dedupe: { key } on the job";
const KEPT = "use results: { jobs, ttl } on the queue";
const GATE = "use sluice.gate(key).set({ rate }) and gates: [key] on the job";
const ON_JOB = "give it to add, on each job";
const FIRST = "use min: the first delay";
const FACTOR = "delays grow by factor; factor: 1 keeps them equal";
const OPEN = "use Sluice.open({ dir }) or Sluice.connect(url)";

/** By the name of the option, or by where it was given: `queue.attempts` before `attempts`. */
const INSTEAD: Readonly<Record<string, string>> = {
  jobId: DEDUPE,
  deduplication: DEDUPE,
  debounce: DEDUPE,
  singletonKey: DEDUPE,
  repeat: SCHEDULE,
  pattern: "use cron",
  tz: "use timezone",
  "schedule.delay": "use options: { delay }, or from",
  "retry.delay": FIRST,
  "backoff.delay": FIRST,
  "backoff.type": FACTOR,
  "retry.type": FACTOR,
  "job.retry": "use attempts and backoff on the job",
  delay: ON_JOB,
  priority: ON_JOB,
  startAfter: "use delay or runAt",
  removeOnComplete: KEPT,
  removeOnFail: "failed jobs move to the queue's dlq; use retention on that queue, or dlq: false",
  attempts: "use retry: { attempts } on the queue, or attempts on the job",
  backoff: "use retry: { min, max, factor } on the queue, or backoff on the job",
  retryLimit: "use attempts",
  limiter: GATE,
  "gate.max": "use windows: [{ limit, per }]",
  "gate.duration": "use windows: [{ limit, per }]",
  concurrency: "give it to work, as the worker's concurrency",
  connection: OPEN,
  host: OPEN,
  "open.url": OPEN,
  "connect.key": "use apiKey",
  "connect.timeout": "use callTimeout",
  defaultJobOptions: "use retry, ttl, results or policy of the queue",
  lockDuration: "use lease",
  lifo: "there is no last in, first out; use priority",
  parent: "use after, or sluice.flow",
  queueName: "use queue",
  name: "jobs have no name",
  data: "use payload",
  opts: "options are beside the payload",
};

/** What to write in place of a field that Sluice does not know; undefined if that is not known. */
export function insteadOf(field: string): string | undefined {
  const names = field.split(".");
  const keys = [names.slice(-2).join("."), names.at(-1) ?? ""];
  const key = keys.find((name) => Object.hasOwn(INSTEAD, name));
  return key === undefined ? undefined : INSTEAD[key];
}
