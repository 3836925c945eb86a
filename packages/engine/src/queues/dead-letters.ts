/**
 * Dead letters. A job whose attempts are used up moves, with its id, to the dead letter queue of
 * its queue and is a letter there: `extra.origin` says from which queue, and how it goes back.
 * A letter that fails is never dead a second time: it returns to its place after the backoff of the
 * queue that it is in. It ends by an ack, a cancel, a purge or the `retention` of that queue, and
 * returns to its origin by a redrive or a retry. Jobs added to a dead letter queue are no letters.
 *
 * A queue lists its letters by origin, in the order in which they died, whether they wait, are
 * delayed or leased. The lists are linked through the extras: a letter that leaves costs one step.
 */
import { Refusal } from "../errors.ts";
import type { JobTable } from "../jobs/job-table.ts";

/** Where the letters of a queue go, and how long it keeps those of others. */
export interface DeadLetterOptions {
  /** Name of the dead letter queue; false: drop and count. */
  dlq: string | false;
  /** Dead letters in this queue end as expired after this long; absent: they stay. */
  retentionMs?: number | undefined;
}

/** The letters in a dead letter queue that come from one other queue, in the order of death. */
export interface DeadList {
  head: number;
  tail: number;
  count: number;
}

/** A queue, as far as letters are concerned. */
interface LetterQueue {
  readonly config: DeadLetterOptions;
  /** Its dead, by the name of the queue they came from. */
  readonly dead: Map<string, DeadList>;
  /** True once a dead job came in. */
  isDlq: boolean;
}

/** The part of the engine that letters are in. */
interface LetterWorld<Config extends DeadLetterOptions = DeadLetterOptions> {
  readonly jobs: JobTable;
  readonly byName: ReadonlyMap<string, LetterQueue>;
  readonly letterQueue: (name: string) => Config;
}

export function isLetter(core: LetterWorld, row: number): boolean {
  return core.jobs.extra(row)?.origin !== undefined;
}

/** A job has died and is in this queue from now on. */
export function enterDead(core: LetterWorld, queue: LetterQueue, row: number): void {
  const extra = core.jobs.extra(row)!;
  const { dead } = queue;
  const origin = extra.origin!.queue;
  const list = dead.get(origin);
  queue.isDlq = true;
  extra.deadNext = 0;
  extra.deadPrev = list?.tail ?? 0;
  if (list === undefined) dead.set(origin, { head: row, tail: row, count: 1 });
  else {
    core.jobs.extra(list.tail)!.deadNext = row;
    list.tail = row;
    list.count++;
  }
}

/** A letter ends, or goes back to its origin. */
export function leaveDead(core: LetterWorld, queue: LetterQueue, row: number): void {
  const { deadNext, deadPrev, origin } = core.jobs.extra(row)!;
  const list = queue.dead.get(origin!.queue)!;
  if (deadPrev === 0) list.head = deadNext;
  else core.jobs.extra(deadPrev)!.deadNext = deadNext;
  if (deadNext === 0) list.tail = deadPrev;
  else core.jobs.extra(deadNext)!.deadPrev = deadPrev;
  if (--list.count === 0) queue.dead.delete(origin!.queue);
}

/** How many letters from one queue the others hold. */
export function lettersFrom(core: LetterWorld, origin: string): number {
  let count = 0;
  for (const queue of core.byName.values()) count += queue.dead.get(origin)?.count ?? 0;
  return count;
}

/** How many letters a queue holds, from whichever queues. */
export function lettersIn(queue: LetterQueue): number {
  let count = 0;
  for (const list of queue.dead.values()) count += list.count;
  return count;
}

/** Refuses a `dlq` that leads back to its own queue, over however many others. */
export function refuseCircle(core: LetterWorld, name: string, dlq: string | false): void {
  const path = circleOf(core, name, dlq);
  if (path === undefined) return;
  const message = `queue.dlq must not lead back to its queue: ${path.join(" → ")}`;
  throw new Refusal("INVALID", message, { field: "queue.dlq", value: dlq });
}

/** The queue with this name that letters go to, as it is made when it does not exist. */
export function letterQueueConfig<Config extends DeadLetterOptions>(
  core: LetterWorld<Config>,
  name: string,
): Config {
  const config = core.letterQueue(name);
  if (circleOf(core, name, config.dlq) === undefined) return config;
  return { ...config, dlq: false };
}

/**
 * The way from a queue back to itself; undefined: there is none. A queue that does not exist counts
 * with the `dlq` that it would be made with.
 */
function circleOf(core: LetterWorld, name: string, dlq: string | false): string[] | undefined {
  const path = [name];
  for (let next = dlq; next !== false; next = dlqOfName(core, next)) {
    path.push(next);
    if (next === name) return path;
    if (path.indexOf(next) !== path.length - 1) return undefined;
  }
  return undefined;
}

function dlqOfName(core: LetterWorld, name: string): string | false {
  return (core.byName.get(name)?.config ?? core.letterQueue(name)).dlq;
}
