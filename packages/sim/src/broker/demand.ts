// How many jobs each worker would take now, as the engine was told.

export class Demand {
  readonly #queues = new Map<string, Map<string, number>>();

  set(queue: string, worker: string, slots: number): void {
    let workers = this.#queues.get(queue);
    if (workers === undefined) {
      workers = new Map();
      this.#queues.set(queue, workers);
    }
    workers.set(worker, slots);
  }

  of(queue: string, worker: string): number {
    return this.#queues.get(queue)?.get(worker) ?? 0;
  }

  isFree(queue: string): boolean {
    for (const slots of this.#queues.get(queue)?.values() ?? []) if (slots > 0) return true;
    return false;
  }

  forget(queue: string): void {
    this.#queues.delete(queue);
  }

  clear(): void {
    this.#queues.clear();
  }
}
