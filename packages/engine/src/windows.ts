/**
 * The sliding windows of a gate: never more than `limit` in any half-open interval of `perMs`.
 *
 * All windows share one log of takes. Each has a cursor, the oldest take that still counts in it,
 * and the sum from there to the end; a take at t counts until t + perMs. The cursor of the longest
 * window is the oldest, and what lies before it is garbage. Takes of the same millisecond are one
 * entry, and a take between two milliseconds counts as of the later one, so it expires up to 1 ms
 * late and never early.
 *
 * The log is a chain of blocks that are never copied: a gate with few takes keeps a small block, a
 * million takes never cost more than one allocation at a time, and blocks that expired as a whole
 * are passed in one step.
 *
 * What is lent to others is in use until it is known to have been used, and counts as used then:
 * at a time at or after its use, so it expires late and never early.
 */

const BLOCK_ENTRIES_MIN = 8;
/** 16 KiB a block: allocated in microseconds, and a million entries are passed in 1,000 steps. */
const BLOCK_ENTRIES_MAX = 1024;

export interface WindowLimit {
  readonly limit: number;
  readonly perMs: number;
}

/** Takes that still count, oldest first. */
export interface TakesSave {
  times: number[];
  costs: number[];
}

class Block {
  readonly times: Float64Array;
  readonly costs: Float64Array;
  used = 0;
  sum = 0;
  next: Block | undefined = undefined;

  constructor(entries: number) {
    this.times = new Float64Array(entries);
    this.costs = new Float64Array(entries);
  }

  clear(): void {
    this.used = 0;
    this.sum = 0;
    this.next = undefined;
  }
}

class Window {
  readonly limit: number;
  readonly perMs: number;
  block: Block;
  index: number;
  /** Sum of the costs from the cursor to the end of the log. */
  used: number;

  constructor(limit: WindowLimit, block: Block, index: number, used: number) {
    this.limit = limit.limit;
    this.perMs = limit.perMs;
    this.block = block;
    this.index = index;
    this.used = used;
  }

  /** Pass the takes that no longer count at `now`. */
  advance(now: number): void {
    const born = now - this.perMs;
    for (;;) {
      const block = this.block;
      if (this.index === block.used) {
        if (block.next === undefined) return;
        this.block = block.next;
        this.index = 0;
      } else if (this.index === 0 && block.times[block.used - 1]! <= born) {
        this.used -= block.sum;
        this.index = block.used;
      } else if (block.times[this.index]! <= born) {
        this.used -= block.costs[this.index]!;
        this.index++;
      } else return;
    }
  }

  /** The most that may be in use for `cost` to pass: nothing, when it is above the limit. */
  room(cost: number): number {
    return Math.max(0, this.limit - cost);
  }

  /**
   * When enough takes have expired for `cost`, or all of them; only for a cost that does not pass
   * yet, where something is in use.
   */
  opensAt(cost: number, lent: number): number {
    let over = Math.min(this.used, this.used + lent - this.room(cost));
    let block = this.block;
    let index = this.index;
    for (;;) {
      if (index === block.used || (index === 0 && block.sum < over)) {
        if (index === 0) over -= block.sum;
        block = block.next!;
        index = 0;
      } else {
        over -= block.costs[index]!;
        if (over <= 0) return block.times[index]! + this.perMs;
        index++;
      }
    }
  }

  /** What is still in use of today's takes at a later time. */
  usedAt(later: number): number {
    const { block, index, used } = this;
    this.advance(later);
    const usedLater = this.used;
    this.block = block;
    this.index = index;
    this.used = used;
    return usedLater;
  }
}

export class Windows {
  #windows: readonly Window[];
  #longest: Window;
  #tail: Block;
  /** The last block that expired, to be used again instead of making a new one. */
  #spare: Block | undefined = undefined;
  lent = 0;

  /** `limits` has at least one window. */
  constructor(limits: readonly WindowLimit[]) {
    this.#tail = new Block(BLOCK_ENTRIES_MIN);
    this.#windows = limits.map((limit) => new Window(limit, this.#tail, 0, 0));
    this.#longest = longest(this.#windows);
  }

  /** The takes stay: they count in the new windows as far as the old ones remember them. */
  configure(limits: readonly WindowLimit[], now: number): void {
    this.#settle(now);
    const { block, index, used } = this.#longest;
    this.#windows = limits.map((limit) => new Window(limit, block, index, used));
    this.#longest = longest(this.#windows);
    this.#settle(now);
  }

  /** When `cost` passes all windows: `now` or a later time. */
  opensAt(cost: number, now: number): number {
    this.#settle(now);
    let at = now;
    for (const window of this.#windows) {
      if (window.used > 0 && window.used + this.lent > window.room(cost)) {
        at = Math.max(at, window.opensAt(cost, this.lent));
      }
    }
    return at;
  }

  take(cost: number, now: number): void {
    this.#settle(now);
    this.#add(cost, Math.ceil(now));
  }

  /** Whether `claimCost` passes at `claimAt` when `cost` is taken now. */
  opensBeside(cost: number, claimCost: number, claimAt: number, now: number): boolean {
    this.#settle(now);
    const takenAt = Math.ceil(now);
    for (const window of this.#windows) {
      const taken = takenAt + window.perMs > claimAt ? cost : 0;
      if (window.usedAt(claimAt) + taken + this.lent > window.room(claimCost)) return false;
    }
    return true;
  }

  empty(now: number): boolean {
    this.#settle(now);
    return this.#longest.used === 0;
  }

  use(now: number): { limit: number; perMs: number; used: number }[] {
    this.#settle(now);
    const { lent } = this;
    return this.#windows.map(({ limit, perMs, used }) => ({ limit, perMs, used: used + lent }));
  }

  /** Whether a job of this cost can pass before what is lent has come back. */
  fits(cost: number): boolean {
    return this.#windows.every((window) => this.lent <= window.room(cost));
  }

  save(now: number): TakesSave {
    this.#settle(now);
    const save: TakesSave = { times: [], costs: [] };
    let index = this.#longest.index;
    for (let block: Block | undefined = this.#longest.block; block; block = block.next) {
      for (; index < block.used; index++) {
        save.times.push(block.times[index]!);
        save.costs.push(block.costs[index]!);
      }
      index = 0;
    }
    return save;
  }

  /** Put the takes of a save in the place of those that are there. */
  load(save: TakesSave, now: number): void {
    this.#tail = new Block(BLOCK_ENTRIES_MIN);
    this.#spare = undefined;
    this.#windows = this.#windows.map((window) => new Window(window, this.#tail, 0, 0));
    this.#longest = longest(this.#windows);
    for (let i = 0; i < save.times.length; i++) this.#add(save.costs[i]!, save.times[i]!);
    this.#settle(now);
  }

  #settle(now: number): void {
    const first = this.#longest.block;
    for (const window of this.#windows) window.advance(now);
    if (this.#longest.block !== first) this.#spare = first;
  }

  #add(cost: number, at: number): void {
    let tail = this.#tail;
    // A forced take of a replay may come out of order; the log must not.
    const time = tail.used === 0 ? at : Math.max(at, tail.times[tail.used - 1]!);
    for (const window of this.#windows) window.used += cost;
    if (tail.used > 0 && tail.times[tail.used - 1] === time) {
      tail.costs[tail.used - 1]! += cost;
      tail.sum += cost;
      return;
    }
    if (tail.used === tail.times.length) tail = this.#extend();
    tail.times[tail.used] = time;
    tail.costs[tail.used] = cost;
    tail.used++;
    tail.sum += cost;
  }

  /** A new tail, or the old one again when nothing in it counts. */
  #extend(): Block {
    const full = this.#tail;
    if (this.#longest.block === full && this.#longest.index === full.used) {
      full.clear();
      for (const window of this.#windows) window.index = 0;
      return full;
    }
    const tail = this.#blockAfter(full);
    tail.clear();
    full.next = tail;
    this.#tail = tail;
    return tail;
  }

  /** Blocks grow only while more than one is in use: a small limit keeps its small blocks. */
  #blockAfter(full: Block): Block {
    const alone = this.#longest.block === full;
    const entries = Math.min(BLOCK_ENTRIES_MAX, full.times.length * (alone ? 1 : 2));
    const spare = this.#spare;
    this.#spare = undefined;
    return spare !== undefined && spare.times.length >= entries ? spare : new Block(entries);
  }
}

function longest(windows: readonly Window[]): Window {
  return windows.reduce((a, b) => (b.perMs > a.perMs ? b : a));
}
