// A while in which workers finish a job now and then, while everything is healthy: between any two
// things that happen, no place of a gate may idle for longer than it may.

import { allQueues, type Broker, type GateInfo, hasEnded, type JobInfo } from "@sluice/protocol";
import { IdleBooks, type IdleGate, type IdleTotals, isPlace } from "../model/idle-books.ts";
import type { Life } from "./life.ts";
import type { Workload } from "./workload.ts";

const LASTS_MS = 40_000;
const STEP_MS = 500;
// A job is finished after this many steps, so that some hold their places for long.
const STEPS_PER_ACK = 3;
const PAGE = 200;

export async function slowWork(life: Life, workload: Workload): Promise<IdleTotals> {
  const { clock, recorder } = life;
  const books = new IdleBooks();
  const running = new Map<string, string>();
  for (let steps = 0; steps * STEP_MS < LASTS_MS; steps++) {
    for (let left = STEP_MS; left > 0; ) {
      await life.quiet();
      await look(recorder.broker, books, running, life.now());
      const before = clock.now();
      left = clock.step(left);
      books.pass(clock.now() - before);
    }
    if (steps % STEPS_PER_ACK === 0) workload.finishOne();
  }
  return books.totals;
}

async function look(
  broker: Broker,
  books: IdleBooks,
  running: Map<string, string>,
  now: number,
): Promise<void> {
  const gates = new Map((await broker.gates({ limit: 1_000 })).items.map((one) => [one.key, one]));
  const named = new Set<string>();
  const idle: IdleGate[] = [];
  for (const { name, config, stats } of await allQueues(broker)) {
    const isFree =
      stats.freeWorkers > 0 && !stats.paused && stats.running < config.capacity.running;
    for (const job of await jobsOf(broker, name)) {
      if (!hasEnded(job.state)) for (const key of job.gates) named.add(key);
      const lease = `${job.worker} ${job.at}`;
      if (job.state === "running" && running.get(job.id) !== lease) books.served(job.gates);
      if (job.state === "running") running.set(job.id, lease);
      else running.delete(job.id);
      const gate = job.state === "waiting" && isFree ? idleGate(job, gates, now) : undefined;
      if (gate !== undefined) idle.push(gate);
    }
  }
  books.look(idle, (key) => named.has(key));
}

// The gate at which a job could pass now, if it is the only one that could keep the job.
function idleGate(
  job: JobInfo,
  gates: ReadonlyMap<string, GateInfo>,
  now: number,
): IdleGate | undefined {
  const infos = job.gates.map((key) => gates.get(key)).filter((info) => info !== undefined);
  if (infos.some(({ cooldown }) => (cooldown?.until ?? 0) > now)) return undefined;
  const [gate, ...others] = infos.filter(({ config }) => config !== undefined);
  if (gate === undefined || others.length > 0 || !isPlace(gate.config)) return undefined;
  const free = (gate.config?.concurrency ?? 0) - gate.inFlight;
  return free > 0 ? { key: gate.key, free, job: job.id } : undefined;
}

async function jobsOf(broker: Broker, queue: string): Promise<JobInfo[]> {
  const jobs: JobInfo[] = [];
  let cursor: string | undefined;
  do {
    const page = await broker.jobs(queue, { limit: PAGE, ...(cursor && { cursor }) });
    jobs.push(...page.items);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return jobs;
}
