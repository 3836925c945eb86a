// What each fact means, and what it must not say: the promises that can be judged one fact at a
// time.

import type { Fact } from "@sluice/engine";
import { demand } from "../model/broken.ts";
import { judgeDispatch } from "./dispatch.ts";
import { isDlq, type Ledger } from "./ledger.ts";
import { jobOf, type LedgerJob } from "./ledger-job.ts";
import { QueueBook } from "./queue-book.ts";
import { readDeath, readRedrive } from "./read-death.ts";

type JobFact = Extract<Fact, { id: number }>;
type Of<F extends Fact["fact"]> = Extract<Fact, { fact: F }>;

export function readFact(ledger: Ledger, fact: Fact): void {
  demand(fact.at >= ledger.now, "time", () => `a fact of ${fact.at} follows one of ${ledger.now}`);
  ledger.now = fact.at;
  switch (fact.fact) {
    case "queue":
      return readQueue(ledger, fact);
    case "queue-deleted":
      return dropQueue(ledger, fact.name);
    case "purged":
      return readPurge(ledger, fact.name);
    case "purge-ended":
      return readPurgeEnd(ledger, fact.name);
    case "weight":
      return readWeight(ledger, fact);
    case "gate":
      return ledger.gates.set(fact.key, fact.config, fact.at);
    case "cooled":
      return ledger.gates.of(fact.key, fact.at).cool(fact.until, fact.at);
    case "cleared":
      return ledger.gates.of(fact.key, fact.at).clear();
    case "reported":
      return ledger.gates.of(fact.key, fact.at).report(fact.ok, fact.at);
    case "job":
      return readJob(ledger, fact);
    case "group-ended":
      return readGroupEnd(ledger, fact.name);
    case "stored":
    case "answered":
    case "group-held":
    case "group-released":
    case "wall":
      return;
    case "moved":
    case "gate-state":
    case "position":
    case "key-held":
    case "counters":
    case "ids":
    case "group":
    case "lease-secret":
    case "life":
    case "borrower":
    case "lent":
    case "lots":
    case "lot-expired":
      return demand(
        false,
        "facts",
        () => `${fact.fact} belongs into a snapshot, or to gates that are shared`,
      );
    default:
      return readJobFact(ledger, fact);
  }
}

function readQueue(ledger: Ledger, { name, config }: Of<"queue">): void {
  const queue = ledger.queues.get(name);
  if (queue === undefined) ledger.queues.set(name, new QueueBook(name, config));
  else queue.configure(config);
  if (!isDlq(name)) ledger.shares.setTiers(name, config.tierOrder);
}

function readWeight(ledger: Ledger, { queue, key, weight }: Of<"weight">): void {
  const book = ledger.queue(queue);
  book.setWeight(key, weight);
  for (let tier = 0; tier < book.config.tiers.length; tier++) {
    ledger.shares.setWeight(queue, tier, key, weight);
  }
}

function dropQueue(ledger: Ledger, name: string): void {
  dropJobs(ledger, (job) => job.queue === name);
  for (const [id, job] of ledger.ended) {
    if (job.queue !== name) continue;
    job.isPurged = false;
    if (job.time < ledger.now) ledger.ended.delete(id);
  }
  ledger.queues.delete(name);
  ledger.keys.forget(name);
  ledger.shares.forget(name);
  for (const [key, strand] of ledger.strands) if (strand.queue === name) ledger.strands.delete(key);
}

function dropJobs(ledger: Ledger, isMeant: (job: LedgerJob) => boolean): void {
  for (const job of ledger.jobs.values()) {
    if (!isMeant(job)) continue;
    ledger.takeOff(job);
    ledger.end(job, "cancelled");
  }
}

// They are gone for everybody at once; that each has ended is told when the purge gets to it.
function readPurge(ledger: Ledger, name: string): void {
  const isMeant = (job: LedgerJob): boolean => job.queue === name && job.state !== "leased";
  for (const job of ledger.jobs.values()) if (isMeant(job)) job.isPurged = true;
  dropJobs(ledger, isMeant);
}

function readPurgeEnd(ledger: Ledger, name: string): void {
  for (const job of ledger.ended.values()) {
    const isLeft = job.isPurged && job.queue === name;
    demand(!isLeft, "purges", () => `the purge of ${name} is over and job ${job.id} is there`);
  }
}

function readJob(ledger: Ledger, { at, job: record }: Of<"job">): void {
  const { id, extra } = record;
  demand(id === ledger.lastId + 1, "ids", () => `job ${id} follows job ${ledger.lastId}`);
  ledger.lastId = id;
  const job = jobOf(record);
  ledger.jobs.set(id, job);
  if (extra?.dedupe !== undefined) {
    ledger.keys.hold(job.queue, extra.dedupe.key, id, extra.dedupe.until ?? Infinity);
  }
  if (extra?.group !== undefined) {
    const members = ledger.groups.get(extra.group) ?? new Set();
    ledger.groups.set(extra.group, members.add(id));
  }
  const weight = job.weight === 0 ? ledger.queue(job.queue).weightOf(job.path) : job.weight;
  ledger.shares.setWeight(job.queue, job.tier, job.path, weight);
  if (record.state === "delayed") return ledger.delay(job, record.time);
  demand(record.state === "waiting", "facts", () => `job ${id} is new and ${record.state}`);
  ledger.wait(job, false);
  const queue = ledger.queue(job.queue);
  // What follows a `keepLast` was taken in with the add that asked for it.
  const hasRoom = queue.waiting <= queue.config.capacity.jobs || extra?.dedupe?.mode === "keepLast";
  demand(hasRoom, "capacity", () => `queue ${job.queue} is full and took job ${id} at ${at}`);
}

// After the end of every member, and once.
function readGroupEnd(ledger: Ledger, name: string): void {
  const open = ledger.groups.get(name)?.size ?? 0;
  demand(open === 0, "groups", () => `group ${name} ends before ${open} of its members`);
  demand(!ledger.endedGroups.has(name), "groups", () => `group ${name} ends twice`);
  ledger.endedGroups.add(name);
}

function readJobFact(ledger: Ledger, fact: JobFact): void {
  const job = ledger.jobs.get(fact.id);
  if (job === undefined) return readGone(ledger, fact);
  const { at } = fact;
  const isNow = (...states: LedgerJob["state"][]): void =>
    demand(states.includes(job.state), "states", () => {
      return `job ${job.id} is ${job.state} and the fact says ${fact.fact}`;
    });
  switch (fact.fact) {
    case "due":
      isNow("delayed");
      return readDue(ledger, job, fact);
    case "leased":
      isNow("waiting");
      return readLease(ledger, job, fact);
    case "extended":
      isNow("leased");
      job.time = fact.until;
      return;
    case "returned":
      isNow("leased");
      ledger.takeOff(job);
      return ledger.wait(job, true);
    case "retried":
      isNow("leased");
      return readRetry(ledger, job, fact);
    case "ended":
      return readEnd(ledger, job, fact);
    case "dead":
      isNow("leased");
      return readDeath(ledger, job, fact);
    case "redriven":
      isNow("waiting", "delayed");
      return readRedrive(ledger, job);
    case "revived":
      isNow("delayed");
      ledger.takeOff(job);
      return ledger.wait(job, false);
    case "replaced":
      isNow("waiting", "delayed");
      return readReplacement(ledger, job, fact);
    case "follow-up":
      job.hasFollowUp = true;
      return;
    case "progress":
      return;
    case "promoted":
      isNow("waiting");
      return readPromotion(ledger, job, fact.tier, at);
  }
}

// Only what was dropped silently in this very instant may be spoken of, or a kept job revived.
function readGone(ledger: Ledger, fact: JobFact): void {
  const job = ledger.ended.get(fact.id);
  if (fact.fact === "revived" && job !== undefined) {
    ledger.ended.delete(job.id);
    ledger.jobs.set(job.id, job);
    job.ending = undefined;
    job.attempt = 0;
    job.deadline = Infinity;
    job.leasesBefore = job.lease;
    return ledger.wait(job, false);
  }
  if (fact.fact === "redriven" && job !== undefined) {
    ledger.ended.delete(job.id);
    ledger.jobs.set(job.id, job);
    job.ending = undefined;
    return readRedrive(ledger, job);
  }
  if (fact.fact === "ended" && job?.isPurged === true) {
    job.isPurged = false;
    return;
  }
  const isLate = job !== undefined && job.time === fact.at && fact.fact !== "leased";
  demand(isLate, "no job after its end", () => `job ${fact.id} has ended and is ${fact.fact}`);
}

function readDue(ledger: Ledger, job: LedgerJob, { at, until }: Of<"due">): void {
  demand(at >= job.time, "delays", () => `job ${job.id} is due at ${job.time}, not at ${at}`);
  const queue = ledger.queue(job.queue);
  ledger.takeOff(job);
  if (until === undefined) return ledger.wait(job, job.origin !== undefined);
  const { jobs, bytes } = queue.config.capacity;
  const { capacity = Infinity } = queue.config.tiers[job.tier]!;
  const isFull =
    queue.waiting >= jobs ||
    queue.bytes + job.sizeBytes > bytes ||
    queue.waitingAt[job.tier]! >= capacity;
  demand(isFull && job.lease === 0, "delays", () => `job ${job.id} is put off without need`);
  ledger.delay(job, until);
}

function readLease(ledger: Ledger, job: LedgerJob, fact: Of<"leased">): void {
  const { at, lease } = fact;
  demand(lease === job.lease + 1, "lease numbers", () => {
    return `lease ${lease} of job ${job.id} follows ${job.lease}`;
  });
  judgeDispatch(ledger, job, at);
  if (!isDlq(job.queue)) ledger.shares.serve(job);
  for (const gate of job.gates) ledger.gates.of(gate, at).take(job.cost, at);
  ledger.unwait(job);
  job.lease = lease;
  job.worker = fact.worker;
  ledger.hold(job, fact.until);
}

function readRetry(ledger: Ledger, job: LedgerJob, fact: Of<"retried">): void {
  const { at, attempt, event, until } = fact;
  if (event === "expired") {
    demand(at >= job.time, "leases", () => `lease of ${job.id} runs until ${job.time}, not ${at}`);
  }
  const wanted = event === "retried" ? job.attempt : job.attempt + 1;
  demand(attempt === wanted, "attempts", () => {
    return `attempt ${attempt} of job ${job.id} follows ${job.attempt}, it ${event}`;
  });
  const isLetter = job.origin !== undefined;
  const mayRetry = isLetter || attempt < job.attempts;
  demand(mayRetry, "attempts", () => `job ${job.id} is retried too often`);
  for (const key of fact.blame) ledger.gates.of(key, at).report(false, at);
  ledger.takeOff(job);
  job.attempt = attempt;
  if (until > at) ledger.delay(job, until);
  else ledger.wait(job, isLetter);
}

function readEnd(ledger: Ledger, job: LedgerJob, fact: Of<"ended">): void {
  const { at, ending } = fact;
  if (ending === "finished") {
    demand(job.state === "leased", "states", () => `job ${job.id} finishes, ${job.state}`);
    for (const gate of job.gates) ledger.gates.of(gate, at).report(true, at);
  }
  if (ending === "expired") {
    demand(at >= job.deadline, "deadlines", () => `job ${job.id} may live until ${job.deadline}`);
  }
  if (ending === "failed") {
    const { dlq } = ledger.queue(job.queue).config;
    const mayFail = dlq === false && job.origin === undefined;
    demand(mayFail, "dead letters", () => `job ${job.id} failed and is no dead letter`);
  }
  if (ending === "wait-too-long") {
    const isMeant = job.state === "waiting" && (fact.waited?.waitMs ?? 0) > job.maxWaitMs;
    demand(isMeant, "maxWait", () => {
      const { id, queue, maxWaitMs } = job;
      return `job ${id} of ${queue}, ${job.state}, waits ${maxWaitMs}: ${JSON.stringify(fact.waited)}`;
    });
  }
  for (const key of fact.blame) ledger.gates.of(key, at).report(false, at);
  ledger.takeOff(job);
  ledger.end(job, ending);
}

function readReplacement(ledger: Ledger, job: LedgerJob, fact: Of<"replaced">): void {
  if (job.state === "waiting") ledger.queue(job.queue).bytes += fact.sizeBytes - job.sizeBytes;
  job.sizeBytes = fact.sizeBytes;
  job.body = fact.body;
  if (fact.until === undefined) return;
  ledger.takeOff(job);
  ledger.delay(job, fact.until);
}

function readPromotion(ledger: Ledger, job: LedgerJob, tier: number, at: number): void {
  const after = ledger.queue(job.queue).config.promoteAfterMs ?? Infinity;
  const isDue = tier === job.tier - 1 && at >= job.time + after;
  demand(isDue, "promotions", () => `job ${job.id} of tier ${job.tier} goes to ${tier} at ${at}`);
  ledger.takeOff(job);
  ledger.shares.copyWeight(job, tier);
  job.tier = tier;
  ledger.wait(job, false);
}
