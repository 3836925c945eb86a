/**
 * How many jobs of the queue are there for each client address, so that none takes more than its
 * share. A worker may take a job before its producer has heard the id: such ids wait in `early`.
 */
const EARLY_MAX = 10_000;

export class JobsByAddress {
  readonly #networks = new Map<string, string>();
  readonly #counts = new Map<string, number>();
  readonly #early = new Set<string>();

  of(network: string): number {
    return this.#counts.get(network) ?? 0;
  }

  added(id: string, network: string): void {
    if (this.#early.delete(id) || this.#networks.has(id)) return;
    this.#networks.set(id, network);
    this.#counts.set(network, this.of(network) + 1);
  }

  /** A worker has it, or it was cancelled. Delayed jobs are not counted, and come unannounced. */
  taken(id: string, wasDelayed: boolean): void {
    const network = this.#networks.get(id);
    if (network === undefined) {
      if (!wasDelayed) this.#early.add(id);
      if (this.#early.size > EARLY_MAX) this.#early.delete(this.#early.values().next().value!);
      return;
    }
    this.#networks.delete(id);
    const left = this.of(network) - 1;
    if (left === 0) this.#counts.delete(network);
    else this.#counts.set(network, left);
  }
}
