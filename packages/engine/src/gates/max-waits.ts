import type { GateState } from "./gate-state.ts";

/** A gate that opens later than a job may wait. */
export interface Waited {
  readonly gate: string;
  /** Infinity: the gate does not open by itself, at a rate of 0. */
  readonly waitMs: number;
  readonly maxWaitMs: number;
}

/** The same in words. */
export function waitTooLong({ gate, waitMs, maxWaitMs }: Waited): string {
  const opens = Number.isFinite(waitMs) ? `opens in ${waitMs} ms` : "does not open by itself";
  return `gate ${gate} ${opens}; the job may wait at most ${maxWaitMs} ms`;
}

interface Waiter {
  maxWaitMs: number;
  row: number;
  id: number;
}

/**
 * The waiting jobs of one gate that would rather fail than wait long: for each tier and cost (those
 * decide when the gate opens for a job) a heap, the least patient on top. Whenever the gate's
 * opening moves, only those are touched that really fail. Jobs that are gone are dropped when they
 * surface.
 */
export class MaxWaits {
  readonly #heaps = new Map<number, { tier: number; cost: number; waiters: Waiter[] }>();

  add(tier: number, cost: number, waiter: Waiter): void {
    const key = cost * 64 + tier;
    let heap = this.#heaps.get(key);
    if (heap === undefined) {
      heap = { tier, cost, waiters: [] };
      this.#heaps.set(key, heap);
    }
    rise(heap.waiters, waiter);
  }

  /** Hands every job that must wait longer than it would to `fail`; at most `most` of them. */
  judge(
    gate: GateState,
    now: number,
    most: number,
    fail: (row: number, id: number) => void,
  ): boolean {
    let left = most;
    for (const [key, { tier, cost, waiters }] of this.#heaps) {
      const waitMs = gate.waitMs(cost, tier, now);
      while (waiters.length > 0 && waiters[0]!.maxWaitMs < waitMs) {
        if (left-- === 0) return false;
        const { row, id } = sink(waiters);
        fail(row, id);
      }
      if (waiters.length === 0) this.#heaps.delete(key);
    }
    return true;
  }

  get isEmpty(): boolean {
    return this.#heaps.size === 0;
  }
}

function rise(heap: Waiter[], waiter: Waiter): void {
  let at = heap.length;
  heap.push(waiter);
  while (at > 0) {
    const parent = (at - 1) >> 1;
    if (heap[parent]!.maxWaitMs <= waiter.maxWaitMs) break;
    heap[at] = heap[parent]!;
    at = parent;
  }
  heap[at] = waiter;
}

function sink(heap: Waiter[]): Waiter {
  const least = heap[0]!;
  const last = heap.pop()!;
  if (heap.length === 0) return least;
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && heap[child + 1]!.maxWaitMs < heap[child]!.maxWaitMs) child++;
    if (heap[child]!.maxWaitMs >= last.maxWaitMs) break;
    heap[at] = heap[child]!;
    at = child;
  }
  heap[at] = last;
  return least;
}
