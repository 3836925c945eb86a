// Checks the order inside a strand: jobs that were not failed, delayed or given back are delivered
// in the order in which they were added.

import { demand } from "../demand.ts";
import type { KnownJob, OpenCall } from "./known-job.ts";
import type { Delivered } from "./record.ts";

interface Strand {
  // The time of the last grants, and the last of those before.
  at: number;
  before: string;
  last: string;
  // At one moment several consumers get jobs; each gets its own in order.
  readonly lastTo: Map<string, string>;
}

export class StrandBook {
  readonly #strands = new Map<string, Strand>();
  // Queues whose jobs have lanes of their own, and how often that has changed.
  readonly #fairness = new Map<string, { isOn: boolean; changes: number }>();
  // By the number of the job, where its queue has changed: jobs that were there keep their lane.
  readonly #changes = new Map<number, number>();

  called({ call }: OpenCall): void {
    if (call.call === "setQueue") {
      const isOn = call.options.fairness ?? true;
      const { changes, ...before } = this.#fairness.get(call.queue) ?? { isOn, changes: 0 };
      this.#fairness.set(call.queue, { isOn, changes: changes + (isOn === before.isOn ? 0 : 1) });
    }
    if (call.call !== "add") return;
    const { changes } = this.#fairness.get(call.queue) ?? { changes: 0 };
    if (changes > 0) for (const { number } of call.jobs) this.#changes.set(number, changes);
  }

  granted(job: KnownJob, { id, queue, tier }: Delivered, at: number, to: string): void {
    if (!isPlain(job) || queue !== job.home) return;
    const { fairnessKey = "", gates = [], priority = tier } = job.note;
    // It was promoted, or there was no room in its own tier.
    if (tier !== priority) return;
    const changes = this.#changes.get(job.number) ?? 0;
    const name = JSON.stringify([queue, changes, tier, fairnessKey, [...gates].sort()]);
    const strand = this.#strands.get(name) ?? { at, before: "", last: "", lastTo: new Map() };
    this.#strands.set(name, strand);
    // A poll answers some turns after a consumer has its jobs.
    if (at < strand.at) return;
    if (at > strand.at) {
      strand.at = at;
      strand.before = strand.last;
      strand.lastTo.clear();
    }
    const last = max(strand.before, strand.lastTo.get(to) ?? "");
    demand(
      id > last,
      "first in, first out",
      () => `job ${id} of strand ${name} goes after ${last}`,
    );
    strand.lastTo.set(to, id);
    strand.last = max(strand.last, id);
  }
}

// On its first delivery, and without anything that moves a job to another place.
function isPlain({ lease, attemptMax, note, isSecondLife }: KnownJob): boolean {
  const { delayMs, runAt, dedupe } = note;
  const isOrdinary = delayMs === undefined && runAt === undefined && dedupe === undefined;
  return isOrdinary && lease?.count === 1 && attemptMax === 0 && !isSecondLife;
}

function max(a: string, b: string): string {
  return a > b ? a : b;
}
