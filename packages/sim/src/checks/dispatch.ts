// Whether a job may go out now: first of its strand, before no more urgent one, through open gates.

import { demand } from "../model/broken.ts";
import type { Ledger } from "./ledger.ts";
import type { LedgerJob } from "./ledger-job.ts";

export function judgeDispatch(ledger: Ledger, job: LedgerJob, now: number): void {
  const queue = ledger.queue(job.queue);
  demand(
    !queue.config.paused,
    "pause",
    () => `queue ${job.queue} is paused, job ${job.id} goes out`,
  );
  demand(queue.leased < queue.config.capacity.running, "capacity", () => {
    return `queue ${job.queue} has ${queue.leased} leased, job ${job.id} goes out`;
  });
  judgeOrder(ledger, job);
  if (queue.config.tierOrder === "strict") {
    for (let tier = 0; tier < job.tier; tier++) {
      demand(queue.ungatedAt[tier] === 0, "strict tiers", () => {
        return `job ${job.id} of tier ${job.tier} goes out, tier ${tier} has an ungated one`;
      });
    }
  }
  for (const key of job.gates) {
    const blocked = ledger.gates.of(key, now).blocks(job.cost, job.tier, now);
    demand(blocked === undefined, "gates", () => {
      return `job ${job.id} of cost ${job.cost} passes gate ${key} at ${now} against its ${blocked}`;
    });
  }
}

// First in its strand, and not younger than what its lane has ready without any gate.
function judgeOrder(ledger: Ledger, job: LedgerJob): void {
  const { head } = ledger.strandOf(job);
  demand(head === job, "order of a strand", () => `job ${job.id} goes out before ${head?.id}`);
  if (job.gates.length === 0) return;
  const ungated = ledger.strandOf({ ...job, gates: [] }).head;
  demand((ungated?.order ?? Infinity) > job.order, "order of a lane", () => {
    return `job ${job.id} goes out, job ${ungated?.id} of its lane is older and has no gate`;
  });
}
