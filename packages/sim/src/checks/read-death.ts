// Dead letters: where a job goes that has used up its attempts, and how it comes back.

import type { Fact } from "@sluice/engine";
import { demand } from "../model/broken.ts";
import type { Ledger } from "./ledger.ts";
import type { LedgerJob } from "./ledger-job.ts";

type DeadFact = Extract<Fact, { fact: "dead" }>;

export function readDeath(ledger: Ledger, job: LedgerJob, fact: DeadFact): void {
  const { at } = fact;
  const { deliveries } = ledger.queue(job.queue).config.retry;
  const isOver =
    job.attempt + 1 >= job.attempts ||
    job.lease - job.leasesBefore >= deliveries ||
    fact.reason === "unrecoverable";
  demand(isOver, "attempts", () => `job ${job.id} dies at attempt ${job.attempt}`);
  demand(job.origin === undefined, "dead letters", () => `job ${job.id} dies a second time`);
  for (const key of fact.blame) ledger.gates.of(key, at).report(false, at);
  const { dlq } = ledger.queue(job.queue).config;
  demand(dlq !== false, "dead letters", () => `queue ${job.queue} has no place for ${job.id}`);
  // A weight that jobs gave the lane goes along, one of the policy does not.
  const laneWeight = ledger.shares.weightOf(job);
  const weight = laneWeight === ledger.queue(job.queue).weightOf(job.path) ? 0 : laneWeight;
  ledger.takeOff(job);
  ledger.releaseNames(job, "dead");
  const { queue, tier, gates, cost, path, maxWaitMs } = job;
  job.origin = { queue, tier, gates, cost, path, maxWaitMs, weight };
  job.attempt = 0;
  job.queue = dlq as string;
  job.tier = 0;
  job.gates = [];
  job.deadline = at + (ledger.queue(job.queue).config.retentionMs ?? Infinity);
  job.maxWaitMs = Infinity;
  job.path = ledger.queue(job.queue).config.fairness ? path : [""];
  ledger.wait(job, false);
}

export function readRedrive(ledger: Ledger, job: LedgerJob): void {
  const { origin } = job;
  demand(origin !== undefined, "dead letters", () => `job ${job.id} never died`);
  if (job.state !== "ended") ledger.takeOff(job);
  const queue = ledger.queue(origin!.queue);
  job.queue = origin!.queue;
  job.tier = Math.min(origin!.tier, queue.config.tiers.length - 1);
  job.gates = origin!.gates;
  job.cost = origin!.cost;
  job.maxWaitMs = origin!.maxWaitMs;
  job.path = queue.config.fairness ? origin!.path : [""];
  job.attempt = 0;
  job.deadline = Infinity;
  job.leasesBefore = job.lease;
  const { weight } = origin!;
  if (weight !== 0) ledger.shares.setWeight(job.queue, job.tier, job.path, weight);
  job.origin = undefined;
  ledger.wait(job, false);
}
