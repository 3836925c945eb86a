// What the clients of one world were told, and whether it fits together.

import type { Added, LeasedJob, Outcome, QueueStats, SluiceError } from "@sluice/protocol";

const decoder = new TextDecoder();

export class ClientHistory {
  readonly seed: number;
  readonly failures: string[] = [];
  readonly #idOf = new Map<string, string>();
  readonly #finished = new Set<string>();
  readonly #over = new Set<string>();
  readonly #leases = new Set<string>();
  // Adds that rejected with UNAVAILABLE: they must never have taken effect.
  readonly #withdrawn = new Set<string>();
  #adding = 0;
  deliveries = 0;
  unavailable = 0;
  timeouts = 0;

  constructor(seed: number) {
    this.seed = seed;
  }

  get jobs(): number {
    return this.#idOf.size;
  }

  // All adds are answered and all jobs are finished.
  get isSettled(): boolean {
    return this.#adding === 0 && this.#over.size === this.#idOf.size;
  }

  adding(count: number): void {
    this.#adding += count;
  }

  added(names: readonly string[], outcomes: readonly Outcome<Added>[]): void {
    this.#adding -= names.length;
    for (const [i, name] of names.entries()) {
      const id = outcomes[i]?.ok?.id;
      if (id === undefined) this.fail(`the add of ${name} was answered with no id`);
      else this.#note(name, id);
    }
  }

  // An add was not answered in time. What is known of one that is repeated is what the first said.
  refused(names: readonly string[], { code }: SluiceError, isRepeated: boolean): void {
    this.#adding -= names.length;
    if (code === "TIMEOUT") this.timeouts++;
    else if (code === "UNAVAILABLE") this.unavailable++;
    else this.fail(`an add was refused with ${code}`);
    if (code !== "UNAVAILABLE" || isRepeated) return;
    for (const name of names) {
      this.#withdrawn.add(name);
      if (this.#idOf.has(name)) this.fail(`${name} was added before it was UNAVAILABLE`);
    }
  }

  delivered(job: LeasedJob): void {
    this.deliveries++;
    if (this.#leases.has(job.lease)) this.fail(`lease ${job.lease} was delivered twice`);
    this.#leases.add(job.lease);
    // Whoever has heard that a job is finished knows that nobody else holds it.
    if (this.#finished.has(job.id)) this.fail(`${job.id} was delivered after it was finished`);
    this.#note(decoder.decode(job.payload), job.id);
  }

  finished(job: LeasedJob): void {
    if (this.#finished.has(job.id)) this.fail(`${decoder.decode(job.payload)} was finished twice`);
    this.#finished.add(job.id);
    this.over(job);
  }

  // Somebody has finished it: perhaps the same worker, which never heard the answer.
  over({ id }: LeasedJob): void {
    this.#over.add(id);
  }

  ended(worker: string): void {
    if (!this.isSettled) this.fail(`${worker} was told that it is over`);
  }

  judge({ added, waiting, running, delayed }: QueueStats): void {
    if (this.#adding > 0) this.fail(`${this.#adding} adds were never answered`);
    if (added !== this.#idOf.size) this.fail(`${added} jobs of ${this.#idOf.size} that were added`);
    const left = waiting + running + delayed;
    if (left > 0) this.fail(`${left} jobs never came to an end`);
    if (this.#over.size !== this.#idOf.size) {
      this.fail(`${this.#over.size} finished of ${this.#idOf.size}`);
    }
  }

  fail(what: string): void {
    this.failures.push(what);
  }

  #note(name: string, id: string): void {
    const known = this.#idOf.get(name);
    if (known !== undefined && known !== id) this.fail(`${name} is both ${known} and ${id}`);
    if (this.#withdrawn.has(name)) this.fail(`${name} was UNAVAILABLE and added all the same`);
    this.#idOf.set(name, id);
  }
}
