// What happened in a run: a hash over all of it, and the last events to be read.

export type Detail = string | number;

const KEPT = 30;

export class Trace {
  events = 0;
  readonly #last: (readonly Detail[])[] = [];
  readonly #print: ((line: string) => void) | undefined;
  #low = 0x811c9dc5;
  #high = 0x9e3779b9;

  constructor(print?: (line: string) => void) {
    this.#print = print;
  }

  add(...details: readonly Detail[]): void {
    this.#last[this.events % KEPT] = details;
    this.events++;
    for (const detail of details) {
      if (typeof detail === "number") this.#mix(detail);
      else for (let i = 0; i < detail.length; i++) this.#mix(detail.charCodeAt(i));
    }
    this.#print?.(lineOf(details));
  }

  #mix(value: number): void {
    const high = Math.floor(value / 2 ** 32) | 0;
    this.#low = Math.imul(this.#low ^ (value | 0), 0x01000193);
    this.#high = Math.imul((this.#high ^ high) + this.#low, 0x85ebca6b) | 0;
    this.#high ^= this.#high >>> 13;
  }

  get hash(): string {
    const hex = (word: number): string => (word >>> 0).toString(16).padStart(8, "0");
    return hex(this.#high) + hex(this.#low);
  }

  last(): string[] {
    const from = Math.max(0, this.events - KEPT);
    const lines: string[] = [];
    for (let i = from; i < this.events; i++) lines.push(lineOf(this.#last[i % KEPT]!));
    return lines;
  }
}

function lineOf(details: readonly Detail[]): string {
  return details.join(" ");
}
