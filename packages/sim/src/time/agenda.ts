// What is to happen in a simulated hour, in order of time; at the same time in order of asking.
//
// The agenda's own time is the true one. What the broker believes is the clock's business.

interface Item {
  readonly at: number;
  readonly order: number;
  readonly act: () => void;
}

export class Agenda {
  now = 0;
  #order = 0;
  readonly #heap: Item[] = [];

  in(delayMs: number, act: () => void): void {
    const item = { at: this.now + Math.max(0, delayMs), order: this.#order++, act };
    const heap = this.#heap;
    let hole = heap.length;
    heap.push(item);
    while (hole > 0) {
      const parent = (hole - 1) >> 1;
      if (!isBefore(item, heap[parent]!)) break;
      heap[hole] = heap[parent]!;
      hole = parent;
    }
    heap[hole] = item;
  }

  // Does the next thing that is due by `until`; false when there is none, and then it is `until`.
  step(until: number): boolean {
    const first = this.#heap[0];
    if (first === undefined || first.at > until) {
      this.now = until;
      return false;
    }
    this.#removeFirst();
    this.now = first.at;
    first.act();
    return true;
  }

  #removeFirst(): void {
    const heap = this.#heap;
    const last = heap.pop()!;
    if (heap.length === 0) return;
    let hole = 0;
    for (;;) {
      let child = 2 * hole + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++;
      if (!isBefore(heap[child]!, last)) break;
      heap[hole] = heap[child]!;
      hole = child;
    }
    heap[hole] = last;
  }
}

function isBefore(a: Item, b: Item): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}
