import { NAMES_MAX } from "../limits.ts";

/** What was said of the latest names, and no more of them than there is room for. */
export class RecentNames<T> {
  readonly #values = new Map<string, T>();

  get(name: string): T | undefined {
    return this.#values.get(name);
  }

  set(name: string, value: T): void {
    this.#values.delete(name);
    this.#values.set(name, value);
    if (this.#values.size <= NAMES_MAX) return;
    const [oldest] = this.#values.keys();
    this.#values.delete(oldest!);
  }

  delete(name: string): void {
    this.#values.delete(name);
  }
}
