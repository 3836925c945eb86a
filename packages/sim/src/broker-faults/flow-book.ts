// The order inside a flow: jobs that nobody has failed, delayed or given back go out in the order
// in which they came.

import { demand } from "../model/broken.ts";
import type { KnownJob } from "./known-job.ts";
import type { Delivered } from "./record.ts";

interface Flow {
  // The time of the last grants, and the last of those before.
  at: number;
  before: string;
  last: string;
  // At one moment several consumers get jobs; each gets its own in order.
  readonly lastTo: Map<string, string>;
}

export class FlowBook {
  readonly #flows = new Map<string, Flow>();

  granted(job: KnownJob, { id, queue, tier }: Delivered, at: number, to: string): void {
    if (!isPlain(job) || queue !== job.home) return;
    const { fairnessKey = "", gates = [] } = job.note;
    const name = JSON.stringify([queue, tier, fairnessKey, [...gates].sort()]);
    const flow = this.#flows.get(name) ?? { at, before: "", last: "", lastTo: new Map() };
    this.#flows.set(name, flow);
    // A poll answers some turns after a consumer has its jobs.
    if (at < flow.at) return;
    if (at > flow.at) {
      flow.at = at;
      flow.before = flow.last;
      flow.lastTo.clear();
    }
    const last = max(flow.before, flow.lastTo.get(to) ?? "");
    demand(id > last, "first in, first out", () => `job ${id} of flow ${name} goes after ${last}`);
    flow.lastTo.set(to, id);
    flow.last = max(flow.last, id);
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
