// The ids that a run has added are `first`, `first + 1`, ...: each is delivered once, and no other.

export class Delivered {
  readonly #first: number;
  readonly #times: Uint8Array;
  #strangers = 0;
  #repeated = 0;
  #distinct = 0;

  constructor(first: number, count: number) {
    this.#first = first;
    this.#times = new Uint8Array(count);
  }

  // Knows what this one knows, of so many jobs.
  grown(count: number): Delivered {
    const grown = new Delivered(this.#first, count);
    grown.#times.set(this.#times);
    grown.#strangers = this.#strangers;
    grown.#repeated = this.#repeated;
    grown.#distinct = this.#distinct;
    return grown;
  }

  mark(id: number): void {
    const at = id - this.#first;
    const times = this.#times[at];
    if (times === undefined) this.#strangers += 1;
    else if (times > 0) this.#repeated += 1;
    else {
      this.#times[at] = 1;
      this.#distinct += 1;
    }
  }

  // What is wrong with what was delivered so far; undefined when nothing is. If only a part of the
  // jobs is consumed, jobs that were not delivered do not count as missing.
  fault(isWhole: boolean): string | undefined {
    const missing = isWhole ? this.#times.length - this.#distinct : 0;
    const faults = [
      ...(missing > 0 ? [`${missing} never delivered`] : []),
      ...(this.#repeated > 0 ? [`${this.#repeated} delivered again`] : []),
      ...(this.#strangers > 0 ? [`${this.#strangers} that were not added`] : []),
    ];
    return faults.length === 0 ? undefined : `of ${this.#times.length} jobs: ${faults.join(", ")}`;
  }
}
