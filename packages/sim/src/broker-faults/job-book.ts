// What is known of every job, and what must never be seen of one: see `known-job.ts`.

import { Broken, demand } from "../demand.ts";
import { applyAnswer } from "./job-answers.ts";
import { judgeDelivery, leaseOf } from "./job-delivery.ts";
import { judgeGone, judgeSeen } from "./job-look.ts";
import {
  causeOf,
  isOpen,
  type KnownJob,
  type KnownJobs,
  makeJob,
  mayBeOver,
  type OpenCall,
  redriven,
} from "./known-job.ts";
import type { Delivered, ItemAnswer, JobNote, PortCall, SeenJob } from "./record.ts";

export class JobBook implements KnownJobs {
  // By the number of the add, by id, and by queue and dedupe key.
  readonly #byNumber = new Map<number, KnownJob>();
  readonly #byId = new Map<string, KnownJob>();
  readonly #byKey = new Map<string, KnownJob[]>();
  // Those that have not ended for certain.
  readonly #live = new Set<KnownJob>();
  // Whom each open call is about, item by item.
  readonly #about = new Map<number, KnownJob[]>();
  // Those of them that may have ended before the call was made.
  readonly #over = new Map<number, Set<KnownJob>>();
  // The last call that cleared a queue.
  readonly #clearedBy = new Map<string, number>();
  readonly #deliveredBodies = new Set<number>();
  #lastId = "";
  #lastCall = -1;

  // The jobs of an open call.
  about(call: number): readonly KnownJob[] {
    return this.#about.get(call) ?? [];
  }

  // Whether the job may have ended before the call was made, whatever became of it since.
  mayHaveBeenOver(call: number, job: KnownJob): boolean {
    return this.#over.get(call)?.has(job) === true;
  }

  live(): Iterable<KnownJob> {
    return this.#live;
  }

  byNumber(number: number): KnownJob | undefined {
    return this.#byNumber.get(number);
  }

  byId(id: string): KnownJob | undefined {
    return this.#byId.get(id);
  }

  byKey(queue: string, key: string): readonly KnownJob[] {
    return this.#byKey.get(`${queue}\n${key}`) ?? [];
  }

  called(open: OpenCall): void {
    const { call } = open;
    this.#lastCall = open.n;
    if (call.call === "add") for (const note of call.jobs) this.#adding(note, call.queue, open);
    const about = this.#jobsOf(call);
    this.#about.set(open.n, about);
    this.#over.set(open.n, new Set(about.filter((job) => mayBeOver(job, open.at))));
    if (call.call === "purge" || call.call === "deleteQueue") this.#clearing(call.queue);
    if (call.call === "deleteQueue") this.#freeKeys(call.queue);
    if (call.call !== "add") for (const job of about) job.open.set(open.n, open);
  }

  #adding(note: JobNote, queue: string, open: OpenCall): void {
    const job = makeJob(note, queue, open, this.#lastId);
    this.#byNumber.set(note.number, job);
    this.#live.add(job);
    if (note.dedupe === undefined) return;
    const { key } = note.dedupe;
    const others = this.byKey(queue, key);
    for (const other of others) {
      replaces(job, other);
      // An add that has no answer may have to wait, and be taken in after this one.
      if (!other.isAnswered) replaces(other, job);
    }
    this.#byKey.set(`${queue}\n${key}`, [...others, job]);
  }

  // An add that has no answer may have to wait, and be taken in after what was just answered.
  mayStillBeReplaced(job: KnownJob): void {
    const key = job.note.dedupe?.key;
    if (key === undefined) return;
    for (const other of this.byKey(job.home, key)) {
      if (other !== job && !other.isAnswered) replaces(other, job);
    }
  }

  // A purge or a deletion of the queue was called after this call.
  isClearedSince(queue: string, call: number): boolean {
    return (this.#clearedBy.get(queue) ?? -1) > call;
  }

  // What is in the queue may go from now on. A purge leaves leases alone.
  #clearing(queue: string): void {
    this.#clearedBy.set(queue, this.#lastCall);
    for (const job of this.#live) {
      if (job.home !== queue) continue;
      const isIdle = job.lease === undefined || job.lease.isOver;
      const isWaiting =
        job.isCertain && isIdle && !job.isSecondLife && causeOf(job, 0) === undefined;
      job.purging = isWaiting ? job.lease : null;
      job.mayBePurged = true;
      job.isSure = job.isCertain;
    }
  }

  // Keys go with their queue, those of ended jobs too.
  #freeKeys(queue: string): void {
    for (const [name, jobs] of this.#byKey) {
      if (name.startsWith(`${queue}\n`)) for (const job of jobs) job.hasLostKey = true;
    }
  }

  // Those whom a call names, in its order, or all whom it may reach.
  #jobsOf(call: PortCall): KnownJob[] {
    switch (call.call) {
      case "add":
        return call.jobs.map(({ number }) => this.#byNumber.get(number)!);
      case "ack":
      case "giveBack":
        return call.leases.map((lease) => this.#leased(lease));
      case "nack":
      case "extend":
        return call.items.map(({ lease }) => this.#leased(lease));
      case "cancel":
      case "retry":
        return call.ids.map((id) => this.#known(id));
      case "cancelByKey":
        return call.keys.flatMap((key) => this.byKey(call.queue, key));
      case "purge":
      case "deleteQueue":
        return [...this.#live].filter(({ home }) => home === call.queue);
      case "redrive":
        return [...this.#live].filter(({ home }) => `${home}.dlq` === call.queue);
      default:
        return [];
    }
  }

  #leased(token: string): KnownJob {
    return this.#known(token.slice(0, token.indexOf(".")));
  }

  #known(id: string): KnownJob {
    const job = this.#byId.get(id);
    demand(job !== undefined, "known jobs", () => `no one has added job ${id}`);
    return job!;
  }

  answered(open: OpenCall, at: number, items: readonly ItemAnswer[]): void {
    const about = this.#about.get(open.n)!;
    this.#about.delete(open.n);
    for (const job of about) job.open.delete(open.n);
    applyAnswer(this, open, about, items, at);
    this.#over.delete(open.n);
  }

  // The job has an id: never one that another had, and always a later one.
  name(job: KnownJob, id: string): void {
    const known = this.#byId.get(id);
    if (known === job) return;
    if (known !== undefined && isAlike(known, job)) return this.#merge(known, job);
    demand(known === undefined && job.id === undefined, "ids", () => {
      return `job ${id} is number ${known?.number} and ${job.number}, which was ${job.id}`;
    });
    // A body that has replaced another is seen under the id of the other.
    demand(id > job.idAfter || job.note.dedupe !== undefined, "ids", () => {
      return `${id} was given after ${job.idAfter}`;
    });
    if (id > this.#lastId) this.#lastId = id;
    job.id = id;
    job.isCertain = true;
    job.knownSince = this.#lastCall;
    this.#byId.set(id, job);
  }

  // A body that had replaced another was delivered before the answers to both.
  #merge(known: KnownJob, job: KnownJob): void {
    known.bodies.add(job.number);
    this.end(job, "duplicate");
  }

  end(job: KnownJob, how: string): void {
    job.ended = how;
    if (job.lease !== undefined) job.lease.isOver = true;
    this.#live.delete(job);
  }

  // A call ran the job again.
  revive(job: KnownJob): void {
    job.ended = undefined;
    if (job.lease?.isOver === false) {
      job.lease.isOver = true;
      job.attemptMax += 1;
    }
    job.isSecondLife = true;
    job.isLetter = false;
    job.hasLostKey = true;
    job.purgedAt = Number.POSITIVE_INFINITY;
    // A purge that is answered later had found it before.
    job.purging = null;
    job.attemptMin = 0;
    job.notBefore = new Set([() => 0]);
    this.#live.add(job);
  }

  find({ id, body }: Pick<Delivered, "id" | "body">): KnownJob {
    if (typeof body === "string") throw new Broken("bodies", `job ${id} has ${body}`);
    const byBody = this.#byNumber.get(body);
    demand(byBody !== undefined, "bodies", () => `job ${id} has number ${body}: no one added it`);
    const job = this.#byId.get(id) ?? byBody!;
    demand(job.bodies.has(body), "bodies", () => {
      return `job ${id} was added as number ${job.number} and has number ${body}`;
    });
    this.name(job, id);
    return job;
  }

  delivered(job: KnownJob, delivered: Delivered, at: number, inProcess: boolean): void {
    judgeDelivery(this, job, delivered, at);
    // A redriven letter may be delivered before answers and events report its death.
    if (isOpen(job, "redrive")) redriven(job, at);
    job.lease = leaseOf(delivered, at, this.#lastCall, inProcess);
    job.attemptMin = delivered.attempt;
    job.attemptMax = delivered.attempt;
    job.restarts = 0;
    job.unseenSince = undefined;
    job.purgedAt = Number.POSITIVE_INFINITY;
    this.#deliveredBodies.add(delivered.body as number);
  }

  // The job is in a dead letter queue, or was.
  die(job: KnownJob): void {
    if (job.lease !== undefined) job.lease.mayBeOver = true;
    job.isSecondLife = true;
    job.hasLostKey = true;
    job.attemptMin = 0;
    job.attemptMax = Number.POSITIVE_INFINITY;
    job.deadline = () => Number.POSITIVE_INFINITY;
    job.notBefore = new Set([() => 0]);
  }

  // An event reports that a job has ended.
  told(id: string, state: string, at: number): void {
    const job = this.#byId.get(id);
    if (job === undefined || job.ended !== undefined) return;
    // If the job was run again, the event may report its first end.
    if (job.isSecondLife) return state === "dead" ? this.die(job) : undefined;
    const cause = causeOf(job, at);
    demand(cause !== undefined, "nothing ends by itself", () => `job ${id} is ${state}`);
    if (state === "dead") return this.die(job);
    // The answer to the call that ended it may come later: until then the lease is its own.
    job.ended = state;
    this.#live.delete(job);
  }

  // An event says that a job was leased, by the time of the lease. The delivery may be known.
  granted(id: string, attempt: number, at: number): void {
    const job = this.#byId.get(id);
    if (job === undefined || job.ended !== undefined) return;
    if (job.lease !== undefined && job.lease.grantedAt >= at) return;
    job.unseenSince = at;
    job.attemptMax = Math.max(job.attemptMax, attempt);
  }

  // An event says that a lease was given back: no attempt is lost.
  returned(id: string): void {
    const job = this.#byId.get(id);
    if (job !== undefined) job.unseenSince = undefined;
  }

  // A close gives the leases of consumers back, those of polls stay.
  restarted(isClean: boolean): void {
    this.#about.clear();
    this.#over.clear();
    for (const job of this.#live) {
      job.restarts++;
      if (job.lease === undefined) continue;
      const { inProcess, mayBeOver } = job.lease;
      if (!isClean && inProcess && !mayBeOver) job.lease.hasDied = true;
      if (isClean || inProcess) job.lease.mayBeOver = true;
    }
  }

  looked(jobs: readonly SeenJob[], at: number): void {
    const seen = new Set<KnownJob>();
    for (const job of jobs) {
      const known = this.find(job);
      seen.add(known);
      judgeSeen(this, known, job, at);
    }
    for (const job of this.#live) if (!seen.has(job)) judgeGone(this, job, at);
    for (const job of this.#byId.values()) job.open.clear();
  }

  // After a drain no job waits any more, and the last body of each job has been seen.
  finish(): void {
    for (const job of this.#live) {
      demand(!job.isCertain, "drain", () => `job ${job.id}, number ${job.number}, is left`);
    }
    for (const jobs of this.#byKey.values()) this.#finishKey(jobs);
  }

  // The last body under a key has run, unless something has ended its job before.
  #finishKey(jobs: readonly KnownJob[]): void {
    const isDisturbed = jobs.some(({ mayBePurged, ended = "", isSecondLife }) => {
      return mayBePurged || isSecondLife || !CALM_ENDS.has(ended);
    });
    const last = jobs.findLast(({ ended }) => ended !== "refused" && ended !== "dropped");
    const mode = last?.note.dedupe?.mode;
    if (last?.isAnswered !== true || isDisturbed || mode === "pending" || mode === "window") return;
    const hasRun = [...last.bodies].some((number) => this.#deliveredBodies.has(number));
    demand(hasRun, "the last body runs", () => {
      return `number ${last.number}, the last under ${last.note.dedupe?.key}, was never delivered`;
    });
  }
}

// The body of an add may come into the place of that of another job with its key.
function replaces(add: KnownJob, job: KnownJob): void {
  const { mode } = add.note.dedupe!;
  if (mode === "pending" || mode === "window") return;
  job.bodies.add(add.number);
  if (mode !== "debounce") return;
  // It restarts the delay, even if the new delay is shorter than that of a retry.
  for (const time of add.notBefore) job.notBefore.add(time);
}

function isAlike(a: KnownJob, b: KnownJob): boolean {
  const { dedupe } = a.note;
  return dedupe !== undefined && a.home === b.home && dedupe.key === b.note.dedupe?.key;
}

const CALM_ENDS = new Set(["finished", "duplicate", "refused", "dropped", ""]);
