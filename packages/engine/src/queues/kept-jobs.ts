/**
 * The ended jobs of all queues that are still kept, counted together. A queue keeps its own up to
 * its `results`; the budget is for all of them. Beyond it the oldest go first, in whichever queue
 * they are, so what is kept does not depend on the order in which a replay meets them.
 *
 * The queues that keep jobs are in a heap by the place of their oldest one. An entry may be too
 * early, when that job was taken away: then it is put right where it is met.
 */
import * as jobFields from "../jobs/job-fields.ts";
import type { JobTable } from "../jobs/job-table.ts";
import type { Table } from "../tables/table.ts";
import { Timers } from "../tables/timers.ts";

/** How many of its ended jobs a queue keeps, and for how long. */
export interface ResultOptions {
  results: { jobs: number; ms: number };
}

/** A queue, as far as what it keeps is concerned. */
interface KeepingQueue {
  readonly index: number;
  readonly serial: number;
  readonly keptHead: number;
}

const { HAS_EXTRA, JOB_INTS, SEQ, SIZE } = jobFields;

/** The part of the engine that this looks at. */
interface KeptWorld {
  readonly jobs: JobTable;
  readonly queues: readonly (KeepingQueue | undefined)[];
}

/** What all queues together may keep of ended jobs. */
export interface KeptMax {
  jobs: number;
  /** Of results, which are in memory. */
  resultBytes: number;
  /** Of payloads, which are in the log at least. */
  payloadBytes: number;
}

/** Jobs that one that ends may push out: a large result takes the place of many small ones. */
const FORGOTTEN_PER_END = 100;

export class KeptJobs {
  readonly #max: KeptMax;
  readonly #oldest: Timers;
  jobs = 0;
  resultBytes = 0;
  payloadBytes = 0;

  constructor(queueRows: Table, max: KeptMax | undefined) {
    const none = Number.POSITIVE_INFINITY;
    this.#max = max ?? { jobs: none, resultBytes: none, payloadBytes: none };
    this.#oldest = new Timers(queueRows, 0);
  }

  entered(core: KeptWorld, row: number, queue: KeepingQueue): void {
    this.count(core, row, 1);
    // The oldest one is not read for this: it is hardly in the cache.
    if (queue.keptHead !== row) return;
    const place = core.jobs.num(row, SEQ);
    if (!this.#oldest.has(queue.index + 1)) this.#oldest.add(queue.index + 1, place, queue.serial);
    // After a restart the record of an older job may come later.
    else this.#oldest.move(queue.index + 1, place);
  }

  left(core: KeptWorld, row: number, queue: KeepingQueue): void {
    this.count(core, row, -1);
    if (queue.keptHead === 0) this.#oldest.remove(queue.index + 1);
  }

  /** One job more, behind the oldest of its queue, or one less. */
  count({ jobs }: KeptWorld, row: number, by: 1 | -1): void {
    const at = row * JOB_INTS;
    this.jobs += by;
    this.payloadBytes += by * jobs.i[at + SIZE]!;
    if ((jobs.i[at + HAS_EXTRA]! & 1) !== 0) this.#countResult(jobs, row, by);
  }

  #countResult(jobs: JobTable, row: number, by: 1 | -1): void {
    const result = jobs.extra(row)?.result;
    if (result !== undefined) this.resultBytes += by * sizeOf(result);
  }

  get isOver(): boolean {
    const { jobs, resultBytes, payloadBytes } = this.#max;
    return this.jobs > jobs || this.resultBytes > resultBytes || this.payloadBytes > payloadBytes;
  }

  /** The job that is the first to go, while there are too many; 0: there are not. */
  #excess(core: KeptWorld): number {
    while (this.isOver) {
      const queue = core.queues[this.#oldest.peek() - 1]!;
      const place = core.jobs.num(queue.keptHead, SEQ);
      if (place <= this.#oldest.peekTime()) return queue.keptHead;
      this.#oldest.move(queue.index + 1, place);
    }
    return 0;
  }

  /** Forgets jobs that the budget has no room for, a bounded number of them. */
  trim(core: KeptWorld, forget: (row: number) => void): void {
    for (let i = 0; i < FORGOTTEN_PER_END; i++) {
      const row = this.#excess(core);
      if (row === 0) return;
      forget(row);
    }
  }
}

/** A result is carried, not looked into; bytes say how many they are. */
function sizeOf(result: unknown): number {
  return (result as { byteLength?: number }).byteLength ?? 0;
}
