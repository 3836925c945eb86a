/**
 * The sliding windows of a gate: never more than `limit` in any half-open interval of `perMs`.
 *
 * All windows share one log of takes. Each has a cursor, the oldest take that still counts in it,
 * and the sum from there to the end; a take at t counts until t + perMs. The cursor of the longest
 * window is the oldest, and what lies before it is garbage. Takes of the same millisecond are one
 * entry, and a take between two milliseconds counts as of the later one, so it expires up to 1 ms
 * late and never early.
 *
 * The log is a chain of blocks of at most 1,024 takes: a million takes never cost more than one
 * small allocation at a time, and blocks that expired as a whole are passed in one step. There may
 * be a gate for every tenant, so a gate without takes has no block, and a block is as large as its
 * takes. It is an array of numbers: 72 bytes for one take, where a typed array needs 256.
 *
 * What is lent to others is in use until it is known to have been used, and counts as used then:
 * at a time at or after its use, so it expires late and never early.
 */

/** 16 KiB a block: grown in microseconds, and a million takes are passed in 1,000 steps. */
const BLOCK_TAKES_MAX = 1024;

/** Takes that count no more, before they are cut off their block. */
const GARBAGE_MIN = 8;

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
  /** Time and cost of each take, one after the other. */
  readonly takes: number[];
  sum: number;
  next: Block | undefined = undefined;

  constructor(takes: number[], sum: number) {
    this.takes = takes;
    this.sum = sum;
  }

  get used(): number {
    return this.takes.length >>> 1;
  }

  time(index: number): number {
    return this.takes[2 * index]!;
  }

  cost(index: number): number {
    return this.takes[2 * index + 1]!;
  }
}

/** The block of all gates without takes: nothing is ever written to it. */
const EMPTY = new Block([], 0);

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
      } else if (this.index === 0 && block.time(block.used - 1) <= born) {
        this.used -= block.sum;
        this.index = block.used;
      } else if (block.time(this.index) <= born) {
        this.used -= block.cost(this.index);
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
        over -= block.cost(index);
        if (over <= 0) return block.time(index) + this.perMs;
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
  #tail = EMPTY;
  lent = 0;

  /** `limits` has at least one window. */
  constructor(limits: readonly WindowLimit[]) {
    this.#windows = limits.map((limit) => new Window(limit, EMPTY, 0, 0));
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

  /** Takes in the log, those that no longer count included. */
  get takesHeld(): number {
    let held = 0;
    for (let block: Block | undefined = this.#longest.block; block; block = block.next) {
      held += block.used;
    }
    return held;
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
        save.times.push(block.time(index));
        save.costs.push(block.cost(index));
      }
      index = 0;
    }
    return save;
  }

  /** Put the takes of a save in the place of those that are there. */
  load(save: TakesSave, now: number): void {
    this.#windows = this.#windows.map((window) => new Window(window, EMPTY, 0, 0));
    this.#longest = longest(this.#windows);
    this.#begin(EMPTY);
    for (let i = 0; i < save.times.length; i++) this.#add(save.costs[i]!, save.times[i]!);
    this.#settle(now);
  }

  #settle(now: number): void {
    for (const window of this.#windows) window.advance(now);
    const { block, index } = this.#longest;
    if (block === this.#tail && block !== EMPTY && index === block.used) this.#begin(EMPTY);
  }

  /** Starts over with one block; no take of the old ones counts any more. */
  #begin(block: Block): void {
    this.#tail = block;
    for (const window of this.#windows) {
      window.block = block;
      window.index = 0;
    }
  }

  #add(cost: number, at: number): void {
    const tail = this.#tail;
    for (const window of this.#windows) window.used += cost;
    if (tail === EMPTY) return this.#begin(new Block([at, cost], cost));
    if (this.#longest.block === tail) this.#compact(tail);
    const { takes } = tail;
    // A forced take of a replay may be out of order; the log must not be.
    const time = Math.max(at, takes[takes.length - 2]!);
    if (takes[takes.length - 2] === time) takes[takes.length - 1]! += cost;
    else if (tail.used === BLOCK_TAKES_MAX) {
      this.#tail = new Block([time, cost], cost);
      tail.next = this.#tail;
      return;
    } else takes.push(time, cost);
    tail.sum += cost;
  }

  /** Cuts off the takes of the only block that count in no window, once they are most of it. */
  #compact(block: Block): void {
    const { index } = this.#longest;
    if (index < GARBAGE_MIN || 2 * index < block.used) return;
    for (let i = 0; i < index; i++) block.sum -= block.cost(i);
    block.takes.splice(0, 2 * index);
    for (const window of this.#windows) window.index -= index;
  }
}

function longest(windows: readonly Window[]): Window {
  return windows.reduce((a, b) => (b.perMs > a.perMs ? b : a));
}
