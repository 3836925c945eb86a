// Which dedupe keys are taken, by which job and until when.

import type { Ending } from "@sluice/engine";
import type { LedgerJob } from "./ledger-job.ts";

interface Held {
  readonly id: number;
  readonly until: number;
}

export class KeyBook {
  readonly #held = new Map<string, Held>();

  clone(): KeyBook {
    const copy = new KeyBook();
    for (const [name, held] of this.#held) copy.#held.set(name, held);
    return copy;
  }

  hold(queue: string, key: string, id: number, until: number): void {
    this.#held.set(`${queue}\n${key}`, { id, until });
  }

  // The job that holds a key now.
  holder(queue: string, key: string, now: number): number | undefined {
    const held = this.#held.get(`${queue}\n${key}`);
    return held !== undefined && held.until > now ? held.id : undefined;
  }

  // A window runs on when its job has finished. One that failed, was cancelled, expired or died
  // gives its key back whatever the mode.
  jobEnded({ id, queue, dedupe }: LedgerJob, ending: Ending): void {
    if (dedupe === undefined) return;
    const name = `${queue}\n${dedupe}`;
    const held = this.#held.get(name);
    if (held?.id !== id) return;
    if (ending !== "finished" || held.until === Infinity) this.#held.delete(name);
  }

  forget(queue: string): void {
    for (const name of this.#held.keys()) {
      if (name.startsWith(`${queue}\n`)) this.#held.delete(name);
    }
  }
}
