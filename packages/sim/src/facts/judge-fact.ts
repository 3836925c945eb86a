// What a fact must not say: the promises that can be judged one fact at a time, from what all facts
// before it have made of the job.

import type { Engine, Fact, JobRecord } from "@sluice/engine";
import { demand } from "../demand.ts";
import { strandOf, type WaitingJob } from "./strand.ts";

// What all facts so far have come to.
export interface Followed {
  readonly engine: Engine;
  readonly now: number;
  readonly waiting: ReadonlyMap<number, WaitingJob>;
  headOf(strand: string): WaitingJob | undefined;
}

type Of<F extends Fact["fact"]> = Extract<Fact, { fact: F }>;

// The states in which a job may be when a fact names it.
const FROM: Partial<Record<Fact["fact"], readonly JobRecord["state"][]>> = {
  due: ["delayed"],
  leased: ["waiting"],
  extended: ["leased"],
  returned: ["leased"],
  retried: ["leased"],
  dead: ["leased"],
  promoted: ["waiting"],
  replaced: ["waiting", "delayed"],
};

export function judgeFact(follower: Followed, fact: Fact): void {
  // A checkpoint describes what was before.
  if (fact.fact !== "job" && !("id" in fact)) return;
  demand(fact.at >= follower.now, "time", () => `a fact of ${fact.at} follows ${follower.now}`);
  if (fact.fact === "job") return judgeNew(follower, fact);
  const job = follower.engine.queries.record(fact.id);
  const from = FROM[fact.fact];
  if (from !== undefined) {
    demand(job !== undefined && from.includes(job.state), "states", () => {
      return `job ${fact.id} is ${job?.state ?? "not there"} and the fact says ${fact.fact}`;
    });
  }
  if (job === undefined) return;
  if (fact.fact === "leased") judgeLease(follower, job, fact);
  else if (fact.fact === "due") judgeDue(job, fact);
  else if (fact.fact === "retried") judgeRetry(job, fact);
  else if (fact.fact === "dead") judgeDeath(follower, job, fact);
  else if (fact.fact === "promoted") judgePromotion(follower, job, fact);
  else if (fact.fact === "ended") judgeEnd(follower, job, fact);
}

function judgeNew({ engine }: Followed, { at, job }: Of<"job">): void {
  demand(
    engine.queries.record(job.id) === undefined,
    "ids",
    () => `job ${job.id} is there already`,
  );
  if (job.state === "delayed") return;
  const { capacity } = engine.queueConfig(job.queue);
  // What follows a `keepLast` was taken in with the add that asked for it.
  const hasRoom =
    engine.queries.queueStats(job.queue).waiting < capacity.jobs ||
    job.extra?.dedupe?.mode === "keepLast";
  demand(hasRoom, "capacity", () => `queue ${job.queue} is full and took job ${job.id} at ${at}`);
}

// First of its strand, before no more urgent one that has no gate, and in a queue that may work.
function judgeLease(follower: Followed, job: JobRecord, { lease }: Of<"leased">): void {
  const { engine } = follower;
  const { id, queue, tier } = job;
  demand(lease === job.lease + 1, "lease numbers", () => `lease ${lease} of ${id} follows`);
  const config = engine.queueConfig(queue);
  const { running } = engine.queries.queueStats(queue);
  demand(!config.paused, "pause", () => `queue ${queue} is paused, job ${id} goes out`);
  demand(running < config.capacity.running, "capacity", () => `queue ${queue} runs ${running}`);
  const head = follower.headOf(strandOf(job));
  demand(head?.id === id, "order of a strand", () => `job ${id} goes out before ${head?.id}`);
  const oldest = follower.headOf(strandOf({ ...job, gates: [] }));
  demand((oldest?.seq ?? Infinity) >= job.seq, "order of a lane", () => {
    return `job ${id} goes out, job ${oldest?.id} of its lane is older and has no gate`;
  });
  if (config.tierOrder !== "strict") return;
  for (const other of follower.waiting.values()) {
    const isBefore = other.queue === queue && other.tier < tier && other.gates.length === 0;
    demand(!isBefore, "strict tiers", () => {
      return `job ${id} of tier ${tier} goes out before ${other.id} of tier ${other.tier}`;
    });
  }
}

function isOnWall({ extra }: JobRecord): boolean {
  return extra?.runAt !== undefined || extra?.wallDeadline !== undefined;
}

function judgeDue(job: JobRecord, { at }: Of<"due">): void {
  const isDue = isOnWall(job) || at >= job.time;
  demand(isDue, "delays", () => `job ${job.id} is due at ${job.time}, not at ${at}`);
}

function judgeRetry(job: JobRecord, { at, attempt, event }: Of<"retried">): void {
  const { id, attempts } = job;
  const isLetter = job.extra?.origin !== undefined;
  const isOver = event !== "expired" || job.inProcess === true || at >= job.time;
  demand(isOver, "leases", () => `the lease of ${id} runs until ${job.time}, not ${at}`);
  const wanted = event === "retried" ? job.attempt : job.attempt + 1;
  demand(
    attempt === wanted,
    "attempts",
    () => `attempt ${attempt} of ${id} follows ${job.attempt}`,
  );
  demand(isLetter || attempt < attempts, "attempts", () => `job ${id} is retried too often`);
}

function judgeDeath({ engine }: Followed, job: JobRecord, { reason }: Of<"dead">): void {
  const { retry, dlq } = engine.queueConfig(job.queue);
  const deliveries = job.lease - (job.extra?.leasesBefore ?? 0);
  const isOver =
    job.attempt + 1 >= job.attempts || deliveries >= retry.deliveries || reason === "unrecoverable";
  demand(isOver, "attempts", () => `job ${job.id} dies at attempt ${job.attempt}`);
  const mayDie = job.extra?.origin === undefined && dlq !== false;
  demand(mayDie, "dead letters", () => `job ${job.id} of ${job.queue} dies and may not`);
}

function judgePromotion({ engine }: Followed, job: JobRecord, fact: Of<"promoted">): void {
  const after = engine.queueConfig(job.queue).promoteAfterMs ?? Infinity;
  const isDue = fact.tier === job.tier - 1 && fact.at >= job.time + after;
  demand(isDue, "promotions", () => `job ${job.id} of tier ${job.tier} goes to ${fact.tier}`);
}

function judgeEnd({ engine }: Followed, job: JobRecord, { at, ending, waited }: Of<"ended">): void {
  const { id, state, extra } = job;
  if (ending === "finished") {
    demand(state === "leased", "states", () => `job ${id} finishes, ${state}`);
  }
  if (ending === "expired" && !isOnWall(job)) {
    const { deadline = Infinity } = extra ?? {};
    demand(at >= deadline, "deadlines", () => `job ${id} may live until ${deadline}`);
  }
  if (ending === "failed") {
    const mayFail = engine.queueConfig(job.queue).dlq === false && extra?.origin === undefined;
    demand(mayFail, "dead letters", () => `job ${id} failed and is no dead letter`);
  }
  if (ending === "wait-too-long") {
    const isMeant = state === "waiting" && (waited?.waitMs ?? 0) > (extra?.maxWaitMs ?? Infinity);
    demand(isMeant, "maxWait", () => `job ${id}, ${state}: ${JSON.stringify(waited)}`);
  }
}
