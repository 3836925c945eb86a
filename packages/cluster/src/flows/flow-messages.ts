/**
 * The part of a partition that carries ends between partitions: a consumer of its jobs in the queue
 * `sluice.flows`, for as long as the partition is served here. What it was doing when the partition
 * moved is delivered again at the next owner.
 */
import {
  type Broker,
  type Clock,
  type Consumer,
  type DependencyInfo,
  type LeasedJob,
  type Outcome,
  SluiceError,
  type StepInfo,
  toSluiceError,
} from "@sluice/protocol";
import {
  LINK_ASK_MS,
  LINK_CREDITS,
  LINK_LATE_MS,
  LINK_LATE_MS_MAX,
  LINK_PART_BYTES,
  LINK_RETRY_MS,
  LINK_RETRY_MS_MAX,
} from "../limits.ts";
import { partitionOf } from "../partition-port/names.ts";
import { cancelMessage, isOver, type ListedLink, listedIn } from "./cancel-over.ts";
import { ENDED, LINKS, type Link, linkJobOf, message, PART, withLinks } from "./link-jobs.ts";

export interface FlowMessagesOptions {
  /** The partition, with the names that jobs have in the cluster. */
  readonly port: Broker;
  /** Makes a call at another partition. */
  readonly at: <T>(partition: number, call: (port: Broker) => Promise<T>) => Promise<T>;
  readonly clock: Clock;
}

/** Jobs of other partitions that are cancelled together. */
const CANCELS_AT_ONCE = 64;

/** How a job ended, as its message says it. */
interface End {
  readonly state: string;
  readonly error?: string;
  /** How many pieces of the result came before. */
  readonly parts: number;
  /** The last piece; absent: there is no result. */
  readonly result?: string;
}

/** The stand-in is not there any more: nothing waits for the end. */
const OVER: ReadonlySet<string> = new Set(["JOB_NOT_FOUND", "ALREADY_FINISHED"]);

export class FlowMessages {
  readonly #port: Broker;
  readonly #options: FlowMessagesOptions;
  #consumer: Promise<Consumer | undefined> | undefined;
  #isStopped = false;

  constructor(options: FlowMessagesOptions) {
    this.#options = options;
    this.#port = options.port;
    this.look();
  }

  /** The queue may be there from now on. */
  look(): void {
    if (this.#isStopped || this.#consumer !== undefined) return;
    const consuming = this.#consume();
    this.#consumer = consuming;
    void this.#watch(consuming);
  }

  stop(): void {
    this.#isStopped = true;
  }

  async #watch(consuming: Promise<Consumer | undefined>): Promise<void> {
    const consumer = await consuming;
    await consumer?.over.catch(() => {});
    this.#consumer = undefined;
    // It may have been made again while this consumer ended.
    if (consumer !== undefined) this.look();
  }

  /** Undefined when there is no queue, or the partition is served here no more. */
  async #consume(): Promise<Consumer | undefined> {
    const worker = { worker: "flows", credits: LINK_CREDITS, inProcess: true };
    const early: LeasedJob[] = [];
    let consumer: Consumer | undefined;
    const deliver = (jobs: readonly LeasedJob[]): void => {
      if (consumer === undefined) early.push(...jobs);
      else for (const job of jobs) void this.#handle(job, consumer);
    };
    try {
      consumer = await this.#port.consume(LINKS, worker, deliver);
    } catch {
      return undefined;
    }
    for (const job of early) void this.#handle(job, consumer);
    return consumer;
  }

  async #handle(job: LeasedJob, consumer: Consumer): Promise<void> {
    try {
      await this.#carry(job);
    } catch (error) {
      await this.#later(job, toSluiceError(error)).catch(() => {});
    } finally {
      consumer.addCredits(1);
    }
  }

  #carry(job: LeasedJob): Promise<void> {
    const of = linkJobOf(job.headers);
    if (of.kind === "message") return this.#send(job, of.tells);
    if (of.kind === "cancel") return this.#cancel(job);
    return of.kind === "stand-in" ? this.#stand(job, of) : this.#ack(job);
  }

  /** A job was cancelled with what it waits for, which includes jobs of other partitions. */
  async #cancel(job: LeasedJob): Promise<void> {
    const links = listedIn(job.payload);
    for (let from = 0; from < links.length; from += CANCELS_AT_ONCE) {
      const some = links.slice(from, from + CANCELS_AT_ONCE);
      await Promise.all(some.map((link) => this.#cancelOver(link)));
      const { lease, expiresIn: leaseMs } = job;
      const [outcome] = await this.#port.extend([{ lease, leaseMs }]);
      check(outcome!);
    }
    await this.#ack(job);
  }

  async #cancelOver(link: ListedLink): Promise<void> {
    if (!(await isOver(this.#port, link))) return;
    await this.#ask(partitionOf(link.of), (port) => cancelMessage(port, link));
  }

  /** Signals to a stand-in how the job ended. */
  async #send(job: LeasedJob, standIn: string): Promise<void> {
    const { items } = await this.#port.dependencies(job.id);
    const { last, parts } = endOf(items[0]);
    try {
      for (const [i, part] of parts.entries()) {
        await this.#signal(job, standIn, PART, part, i);
      }
      await this.#signal(job, standIn, ENDED, last, parts.length);
    } catch (error) {
      if (!OVER.has(toSluiceError(error).code)) throw error;
    }
    await this.#ack(job);
  }

  #signal(job: LeasedJob, standIn: string, name: string, value: unknown, i: number): Promise<void> {
    const options = { operationId: `${LINKS}.${job.id}.${i}` };
    return this.#ask(partitionOf(standIn), (port) => port.signal(standIn, name, value, options));
  }

  /** A stand-in waits for the signal. If that takes long, it makes sure that there is a message. */
  async #stand(job: LeasedJob, link: Link): Promise<void> {
    const waits = job.hasSteps === true ? await this.#waits(job, ENDED) : [];
    const last = waits.at(-1);
    if (last?.isDone === true && last.isLate !== true) return this.#end(job, link, last);
    if (waits.length > 0 && !(await this.#isAwaited(job, link))) return;
    const delayMs = Math.min(LINK_LATE_MS * 4 ** waits.length, LINK_LATE_MS_MAX);
    if (await this.#suspend(job, ENDED, waits.length, delayMs)) return;
    await this.#end(job, link, (await this.#waits(job, ENDED)).at(-1)!);
  }

  /** Adds its message again, which is there as a rule; the job may be unknown by now. */
  async #isAwaited(job: LeasedJob, link: Link): Promise<boolean> {
    const [outcome] = await this.#ask(partitionOf(link.of), (port) =>
      withLinks(port, () => port.add(LINKS, [message(link, job.id)])),
    );
    const { error } = outcome!;
    if (error === undefined) return true;
    if (error.code !== "JOB_NOT_FOUND") throw SluiceError.fromJSON(error);
    const unknown = `job ${link.of} is not kept any more, and how it ended is not known`;
    await this.#fail(job, link, { state: "failed", error: unknown, parts: 0 });
    return false;
  }

  async #end(job: LeasedJob, link: Link, { value }: StepInfo): Promise<void> {
    const end = value as End;
    if (end.state !== "finished") return this.#fail(job, link, end);
    if (end.result === undefined) return this.#ack(job);
    for (let i = 0; i < end.parts; i++) await this.#suspend(job, PART, i);
    const parts = end.parts === 0 ? [] : await this.#waits(job, PART);
    const texts = [...parts.map((part) => part.value as string), end.result];
    await this.#ack(job, Buffer.concat(texts.map((text) => Buffer.from(text, "base64"))));
  }

  async #fail(job: LeasedJob, { of, isSeal }: Link, { state, error }: End): Promise<void> {
    if (isSeal === true) await this.#cancelDependents(job);
    if (isSeal === true || state === "cancelled") return void (await this.#port.cancel([job.id]));
    const how = `job ${of} ${WORDS[state] ?? "failed"}`;
    const said = error === undefined ? how : `${how}: ${error}`;
    const [outcome] = await this.#port.nack([
      { lease: job.lease, error: said, unrecoverable: true },
    ]);
    check(outcome!);
  }

  /** Its flow was cancelled before it was sealed. */
  async #cancelDependents(job: LeasedJob): Promise<void> {
    let cursor: string | undefined;
    do {
      const page = await this.#port.dependents(job.id, cursor === undefined ? {} : { cursor });
      await this.#port.cancel(page.items.map(({ id }) => id));
      ({ cursor } = page);
    } while (cursor !== undefined);
  }

  async #waits({ id }: LeasedJob, name: string): Promise<StepInfo[]> {
    const found: StepInfo[] = [];
    let cursor: string | undefined;
    do {
      const page = await this.#port.steps(id, cursor === undefined ? {} : { cursor });
      for (const step of page.items) {
        if (step.kind === "wait" && step.name === name) found[step.occurrence] = step;
      }
      ({ cursor } = page);
    } while (cursor !== undefined);
    return found;
  }

  /** False when there is no need to wait. */
  async #suspend(
    { lease }: LeasedJob,
    name: string,
    occurrence: number,
    delayMs?: number,
  ): Promise<boolean> {
    const [outcome] = await this.#port.suspend([
      { lease, name, occurrence, kind: "wait", ...(delayMs === undefined ? {} : { delayMs }) },
    ]);
    return check(outcome!);
  }

  async #ack({ lease }: LeasedJob, result?: Uint8Array): Promise<void> {
    const [outcome] = await this.#port.ack([result === undefined ? { lease } : { lease, result }]);
    check(outcome!);
  }

  /** Another partition is away: the job is tried again after a while, which uses no attempt. */
  async #later(job: LeasedJob, error: SluiceError): Promise<void> {
    if (this.#isStopped || error.code === "LEASE_LOST" || OVER.has(error.code)) return;
    const { items } = await this.#port.steps(job.id, { limit: 1000 });
    const occurrence = items.filter(({ kind }) => kind === "sleep").length;
    const delayMs = Math.min(LINK_RETRY_MS * 2 ** occurrence, LINK_RETRY_MS_MAX);
    await this.#port.suspend([
      { lease: job.lease, name: "", occurrence, kind: "sleep", delayMs, error: error.message },
    ]);
  }

  /** A partition that is away must not keep the messages to others for long. */
  async #ask<T>(partition: number, call: (port: Broker) => Promise<T>): Promise<T> {
    const { at, clock } = this.#options;
    const late = Promise.withResolvers<never>();
    const timer = clock.at(clock.now() + LINK_ASK_MS, () => {
      const message = `partition ${partition} has not answered within ${LINK_ASK_MS} ms`;
      late.reject(new SluiceError("TIMEOUT", message, { partition }));
    });
    timer.unref?.();
    try {
      return await Promise.race([at(partition, call), late.promise]);
    } finally {
      timer.cancel();
    }
  }
}

const WORDS: Readonly<Record<string, string>> = { expired: "expired", dead: "is dead" };

function check<T>(outcome: Outcome<T>): T {
  if (outcome.error !== undefined) throw SluiceError.fromJSON(outcome.error);
  return outcome.ok;
}

/** In pieces that a signal can carry, the last one with how it ended. */
function endOf(item: DependencyInfo | undefined): { last: End; parts: string[] } {
  const { state = "cancelled", error, result } = item ?? {};
  const said = { state, ...(error === undefined ? {} : { error }) };
  if (result === undefined) return { last: { ...said, parts: 0 }, parts: [] };
  const pieces: string[] = [];
  const bytes = Buffer.from(result.buffer, result.byteOffset, result.byteLength);
  for (let from = 0; from < bytes.length; from += LINK_PART_BYTES) {
    pieces.push(bytes.subarray(from, from + LINK_PART_BYTES).toString("base64"));
  }
  const last = pieces.pop() ?? "";
  return { last: { ...said, parts: pieces.length, result: last }, parts: pieces };
}
