// Judges one lease: was it allowed to hand out this job, to this worker, now?
//
// The leases of a call are judged one after another in the order the engine returned them, each
// against the state that the ones before it left.

import type { Lease } from "@sluice/engine";
import { Broken, demand, equal } from "../demand.ts";
import type { ModelJob } from "./job.ts";
import type { Model } from "./model.ts";
import type { ModelQueue } from "./queue.ts";
import { adoptTooLongSoFar } from "./waits.ts";

export function judge(model: Model, lease: Lease): void {
  const job = model.jobs.get(lease.id);
  if (job === undefined) throw new Broken("a: the job is known", `job ${lease.id} is not`);
  const queue = model.queueOf(job);
  adoptTooLongSoFar(model);
  judgeLease(model, lease, job, queue);
  useSlot(queue, lease.worker);
  judgeGates(model, job);
  judgeStrand(queue, job);
  const heads = model.heads(queue);
  judgeLane(model, heads, job);
  judgeTiers(model, queue, heads, job);
  judgeLines(model, job);
  if (queue.order !== undefined) judgeOrder(queue, job);
  model.lease(job, lease.worker, lease.expiresAt);
}

function judgeLease(model: Model, lease: Lease, job: ModelJob, queue: ModelQueue): void {
  const rule = "a: the lease";
  demand(job.state === "waiting", rule, () => `job ${job.id} is ${job.state}, not waiting`);
  demand(!queue.config.paused, rule, () => `queue ${queue.name} is paused`);
  demand(queue.leased.size < queue.config.capacity.running, rule, () => "too many are leased");
  equal(rule, `queue of job ${job.id}`, lease.queue, job.queue);
  equal(rule, `lease of job ${job.id}`, lease.lease, job.lease + 1);
  equal(rule, `attempt of job ${job.id}`, lease.attempt, job.attempt);
  equal(rule, `tier of job ${job.id}`, lease.tier, job.tier);
  equal(rule, `body of job ${job.id}`, lease.body, job.body);
  const expiresAt = model.now + (job.leaseMs ?? queue.config.leaseMs);
  equal(rule, `expiry of job ${job.id}`, lease.expiresAt, expiresAt);
}

function useSlot(queue: ModelQueue, worker: string): void {
  const slots = queue.workers.get(worker) ?? 0;
  demand(slots > 0, "a: a free worker", () => `${queue.name}: ${worker} has no slot`);
  if (slots === 1) queue.workers.delete(worker);
  else queue.workers.set(worker, slots - 1);
}

function judgeGates(model: Model, job: ModelJob): void {
  for (const key of job.gates) {
    const { atLeast: at, release } = model.gates.get(key).lack(job.cost, job.tier, model.now);
    demand(!release, "b: gates are exact", () => `job ${job.id}: gate ${key} has no permit free`);
    demand(
      at <= model.now,
      "b: gates are exact",
      () => `job ${job.id} at ${model.now}: gate ${key} opens at ${at}`,
    );
  }
}

function judgeStrand(queue: ModelQueue, job: ModelJob): void {
  for (const other of queue.waiting) {
    demand(
      other.strand !== job.strand || other.age >= job.age,
      "c: FIFO inside a strand",
      () => `job ${job.id} (age ${job.age}) passed job ${other.id} (age ${other.age})`,
    );
  }
}

// Whether nothing at all keeps a strand from a free worker, whichever of its oldest jobs is its
// head.
function areReady(model: Model, oldest: readonly ModelJob[]): boolean {
  return oldest.every((head) => isReady(model, head));
}

// The same for one head: all its gates let it pass, and no other job waits at a gate that has or
// had a limit.
function isReady(model: Model, head: ModelJob): boolean {
  if (!model.passes(head)) return false;
  const lines = head.gates.filter(
    (key) => model.gates.get(key).mayHaveLine || !model.gates.get(key).isOpenForAll(model.now),
  );
  return lines.every((key) => isAlone(model, head, key));
}

function isAlone(model: Model, head: ModelJob, gate: string): boolean {
  for (const queue of model.queues.values()) {
    for (const other of queue.waiting) {
      const isSameStrand = other.queue === head.queue && other.strand === head.strand;
      if (!isSameStrand && other.gates.includes(gate)) return false;
    }
  }
  return true;
}

function judgeLane(model: Model, heads: readonly ModelJob[][], job: ModelJob): void {
  for (const oldest of heads) {
    const head = oldest[0]!;
    if (head.tier !== job.tier || head.lane !== job.lane || head.age >= job.age) continue;
    demand(
      !areReady(model, oldest),
      "d: the oldest head of a lane goes first",
      () => `job ${job.id} (age ${job.age}) passed job ${head.id} (age ${head.age})`,
    );
  }
}

function judgeTiers(
  model: Model,
  queue: ModelQueue,
  heads: readonly ModelJob[][],
  job: ModelJob,
): void {
  if (queue.config.tierOrder !== "strict") return;
  for (const oldest of heads) {
    const head = oldest[0]!;
    if (head.tier >= job.tier) continue;
    demand(
      !areReady(model, oldest),
      "e: strict tiers",
      () => `job ${job.id} (tier ${job.tier}) passed job ${head.id} (tier ${head.tier})`,
    );
  }
}

// Behind a gate: no lower tier takes while a more urgent job lacks only tokens or time there. One
// that names several gates claims its permits for the time at which all of them can be open, and
// what would be back by then may be used meanwhile.
function judgeLines(model: Model, job: ModelJob): void {
  const limits = model.limits(job);
  if (limits.length === 0) return;
  for (const queue of model.queues.values()) {
    if (!queue.isFree && queue.name !== job.queue) continue;
    // Tiers that share by weight take turns, at a gate that was open for both as well.
    if (queue.name === job.queue && queue.config.tierOrder !== "strict") continue;
    for (const oldest of model.heads(queue)) {
      const head = oldest[0]!;
      const [gate, ...others] = model.limits(head);
      if (head.tier >= job.tier || gate === undefined || others.length > 0) continue;
      if (!limits.includes(gate)) continue;
      const lacks = oldest.map((other) => model.lack(other));
      const mayPass = lacks.some(({ atLeast, release }) => release || atLeast <= model.now);
      const isSpared = head.gates.length > 1 && oldest.some((other) => spares(model, job, other));
      demand(mayPass || isSpared, "e: tiers are strict behind a gate", () =>
        [
          `job ${job.id} (tier ${job.tier}) takes from gate ${gate}`,
          `where job ${head.id} (tier ${head.tier}, cost ${head.cost})`,
          `waits until ${lacks[0]!.atLeast}`,
        ].join(" "),
      );
    }
  }
}

// Whether a job takes nothing that puts off another.
function spares(model: Model, job: ModelJob, other: ModelJob): boolean {
  const { at } = model.lack(other);
  return other.gates.every((key) => {
    const gate = model.gates.get(key);
    if (!job.gates.includes(key)) return true;
    const after = gate.lackAfter(job.cost, other.cost, other.tier, model.now);
    return !after.release && after.atLeast <= at;
  });
}

function judgeOrder(queue: ModelQueue, job: ModelJob): void {
  const due = queue.order?.next();
  // Of jobs that entered their lane in no particular order any may be the oldest.
  const isDue = due?.lane === job.lane && due.tier === job.tier && due.age === job.age;
  demand(
    isDue,
    "g: the order of the ring",
    () =>
      `job ${job.id} (lane ${show(job)}) went, job ${due?.id} (lane ${due && show(due)}) was due`,
  );
}

function show(job: ModelJob): string {
  return `${job.path.join("/")}, tier ${job.tier}`;
}
