// What clients were told, and what they may hold against the broker: nothing that was confirmed is
// lost, nothing finished comes back, no job is with two workers.

import type { Lease } from "@sluice/engine";
import { demand } from "../model/broken.ts";
import type { Ledger } from "./ledger.ts";

interface Held {
  readonly lease: number;
  // By the engine's clock.
  until: number;
  // The holder has answered, or would not mind if another had it.
  isOver: boolean;
}

export class Promises {
  #lastConfirmed = 0;
  readonly #finished = new Set<number>();
  readonly #held = new Map<number, Held>();

  addConfirmed(id: number): void {
    this.#lastConfirmed = Math.max(this.#lastConfirmed, id);
  }

  ackConfirmed(id: number): void {
    this.#finished.add(id);
  }

  // An operator runs an ended job again; whoever held it has lost it by its end.
  reopened(id: number): void {
    this.#finished.delete(id);
    const held = this.#held.get(id);
    if (held !== undefined) held.isOver = true;
  }

  delivered({ id, lease, expiresAt }: Lease, at: number): void {
    demand(!this.#finished.has(id), "no job after its ack", () => `job ${id} is delivered again`);
    const held = this.#held.get(id);
    demand(held === undefined || lease > held.lease, "lease numbers", () => {
      return `lease ${lease} of job ${id} follows ${held?.lease}`;
    });
    demand(held === undefined || held.isOver || at >= held.until, "one live lease", () => {
      return `job ${id} is held until ${held?.until} and dispatched at ${at}`;
    });
    this.#held.set(id, { lease, until: expiresAt, isOver: false });
  }

  extended(id: number, lease: number, until: number): void {
    const held = this.#held.get(id);
    if (held?.lease === lease) held.until = until;
  }

  answered(id: number, lease: number): void {
    const held = this.#held.get(id);
    if (held?.lease === lease) held.isOver = true;
  }

  // What was confirmed must be in the facts that are left.
  afterCrash(ledger: Ledger): void {
    demand(this.#lastConfirmed <= ledger.lastId, "no confirmed add lost", () => {
      return `job ${this.#lastConfirmed} was confirmed, the log ends with job ${ledger.lastId}`;
    });
    for (const id of this.#finished) {
      demand(!ledger.jobs.has(id), "no confirmed ack lost", () => `job ${id} is back`);
    }
    for (const [id, { lease }] of this.#held) {
      const job = ledger.jobs.get(id);
      demand(job === undefined || job.lease >= lease, "no confirmed lease lost", () => {
        return `lease ${lease} of job ${id} was delivered, the log knows lease ${job?.lease}`;
      });
    }
  }

  // Forgets what the ledger, all of it durable, answers for from now on.
  forgetEnded(ledger: Ledger): void {
    this.#finished.clear();
    for (const id of this.#held.keys()) if (!ledger.jobs.has(id)) this.#held.delete(id);
  }
}
