// The worlds' own source of chance (sfc32): the same seed always gives the same world.

export class Random {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  constructor(seed: number) {
    this.#a = seed >>> 0;
    this.#b = Math.floor(seed / 2 ** 32) >>> 0;
    this.#c = 0x9e3779b9;
    for (let round = 0; round < 15; round++) this.#next();
  }

  // A whole number from 0 to n - 1.
  below(n: number): number {
    return Math.floor((this.#next() / 2 ** 32) * n);
  }

  between(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  chance(probability: number): boolean {
    return this.#next() / 2 ** 32 < probability;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!;
  }

  // Some of the items, in their order.
  some<T>(items: readonly T[], probability: number): T[] {
    return items.filter(() => this.chance(probability));
  }

  // A name, as often as its weight says.
  weighted<K extends string>(weights: Readonly<Partial<Record<K, number>>>): K {
    let sum = 0;
    for (const name in weights) sum += weights[name] ?? 0;
    let left = this.below(sum);
    for (const name in weights) {
      left -= weights[name] ?? 0;
      if (left < 0) return name;
    }
    throw new Error("no weights");
  }

  #next(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum;
    this.#c |= 0;
    return sum >>> 0;
  }
}
