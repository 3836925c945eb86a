// The answers that the clients of one world got, and whether they are consistent.

import type { Added, LeasedJob, Outcome, QueueStats, SluiceError } from "@sluice/protocol";
import { JobHistory } from "@sluice/protocol/conformance";

const decoder = new TextDecoder();

export class ClientHistory extends JobHistory {
  // Adds that rejected with UNAVAILABLE: they must never have taken effect.
  readonly #withdrawn = new Set<string>();
  #adding = 0;
  unavailable = 0;
  timeouts = 0;

  // All adds are answered and all jobs are finished.
  get isSettled(): boolean {
    return this.#adding === 0 && this.overCount === this.jobs;
  }

  adding(count: number): void {
    this.#adding += count;
  }

  added(names: readonly string[], outcomes: readonly Outcome<Added>[]): void {
    this.#adding -= names.length;
    for (const [i, name] of names.entries()) {
      const id = outcomes[i]?.ok?.id;
      if (id === undefined) this.fail(`the add of ${name} was answered with no id`);
      else this.known(name, id);
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
      if (this.idOf(name) !== undefined) this.fail(`${name} was added before it was UNAVAILABLE`);
    }
  }

  delivered(job: LeasedJob): void {
    this.leased(decoder.decode(job.payload), job.id, job.lease);
  }

  // The outcome of an ack or a nack.
  ended(id: string, outcome: Outcome<unknown> | undefined, isAck: boolean): void {
    if (outcome?.error?.code === "ALREADY_FINISHED") this.over(id);
    else if (isAck && outcome?.ok === true) this.finished(id);
  }

  judge(queues: readonly QueueStats[]): void {
    const sum = (field: "added" | "waiting" | "running" | "delayed"): number =>
      queues.reduce((total, stats) => total + stats[field], 0);
    const added = sum("added");
    if (this.#adding > 0) this.fail(`${this.#adding} adds were never answered`);
    if (added !== this.jobs) this.fail(`${added} jobs of ${this.jobs} that were added`);
    const left = sum("waiting") + sum("running") + sum("delayed");
    if (left > 0) this.fail(`${left} jobs never came to an end`);
    if (this.overCount !== this.jobs) this.fail(`${this.overCount} finished of ${this.jobs}`);
  }

  override known(name: string, id: string): void {
    if (this.#withdrawn.has(name)) this.fail(`${name} was UNAVAILABLE and added all the same`);
    super.known(name, id);
  }
}
