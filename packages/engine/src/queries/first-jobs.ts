/**
 * The first so many of many jobs in an order of times, found in one pass: a heap of those that are
 * in it so far, the last of them at the top. A job that is behind the last costs one comparison.
 */
export class FirstJobs {
  readonly #times: Float64Array;
  readonly #ids: Float64Array;
  readonly #rows: Int32Array;
  readonly #max: number;
  /** 1: the smallest time is first; -1: the largest. */
  readonly #sign: number;
  #size = 0;

  constructor(max: number, isNewestFirst: boolean) {
    this.#max = max;
    this.#sign = isNewestFirst ? -1 : 1;
    this.#times = new Float64Array(max + 1);
    this.#ids = new Float64Array(max + 1);
    this.#rows = new Int32Array(max + 1);
  }

  offer(time: number, id: number, row: number): void {
    if (this.#size < this.#max) return this.#push(time, id, row);
    if (!this.isBefore(time, id, this.#times[1]!, this.#ids[1]!)) return;
    this.#sink(time, id, row);
  }

  /** Jobs of one time are in the order of their ids. */
  isBefore(time: number, id: number, otherTime: number, otherId: number): boolean {
    return time === otherTime
      ? this.#sign * (id - otherId) < 0
      : this.#sign * (time - otherTime) < 0;
  }

  #push(time: number, id: number, row: number): void {
    let at = ++this.#size;
    while (at > 1) {
      const up = at >>> 1;
      if (!this.isBefore(this.#times[up]!, this.#ids[up]!, time, id)) break;
      this.#copy(up, at);
      at = up;
    }
    this.#put(at, time, id, row);
  }

  #sink(time: number, id: number, row: number): void {
    const size = this.#size;
    let at = 1;
    for (;;) {
      let down = at * 2;
      if (down > size) break;
      const right = down + 1;
      if (right <= size && this.#isBehind(right, down)) down = right;
      if (!this.isBefore(time, id, this.#times[down]!, this.#ids[down]!)) break;
      this.#copy(down, at);
      at = down;
    }
    this.#put(at, time, id, row);
  }

  #isBehind(a: number, b: number): boolean {
    return this.isBefore(this.#times[b]!, this.#ids[b]!, this.#times[a]!, this.#ids[a]!);
  }

  #copy(from: number, to: number): void {
    this.#put(to, this.#times[from]!, this.#ids[from]!, this.#rows[from]!);
  }

  #put(at: number, time: number, id: number, row: number): void {
    this.#times[at] = time;
    this.#ids[at] = id;
    this.#rows[at] = row;
  }

  /** All of them, the first one first. */
  sorted(): { time: number; id: number; row: number }[] {
    const found = Array.from({ length: this.#size }, (_, i) => ({
      time: this.#times[i + 1]!,
      id: this.#ids[i + 1]!,
      row: this.#rows[i + 1]!,
    }));
    return found.sort((a, b) => (this.isBefore(a.time, a.id, b.time, b.id) ? -1 : 1));
  }
}
