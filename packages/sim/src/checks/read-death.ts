// Dead letters: where a job goes that has used up its attempts, and how it comes back.

import type { Fact } from "@sluice/engine";
import { demand } from "../model/broken.ts";
import type { Ledger } from "./ledger.ts";
import type { LedgerJob } from "./ledger-job.ts";

type DeadFact = Extract<Fact, { fact: "dead" }>;

export function readDeath(ledger: Ledger, job: LedgerJob, fact: DeadFact): void {
  const { at } = fact;
  const isOver = job.attempt + 1 >= job.attempts || fact.reason === "unrecoverable";
  demand(isOver, "attempts", () => `job ${job.id} dies at attempt ${job.attempt}`);
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
  job.attempt += 1;
  job.queue = dlq as string;
  job.tier = 0;
  job.gates = [];
  job.deadline = Infinity;
  job.maxWaitMs = Infinity;
  job.path = ledger.queue(job.queue).config.fairness ? path : [""];
  ledger.wait(job, false);
}

export function readRedrive(ledger: Ledger, job: LedgerJob): void {
  const { origin } = job;
  demand(origin !== undefined, "dead letters", () => `job ${job.id} never died`);
  ledger.takeOff(job);
  const queue = ledger.queue(origin!.queue);
  job.queue = origin!.queue;
  job.tier = Math.min(origin!.tier, queue.config.tiers.length - 1);
  job.gates = origin!.gates;
  job.cost = origin!.cost;
  job.maxWaitMs = origin!.maxWaitMs;
  job.path = queue.config.fairness ? origin!.path : [""];
  job.attempt = 0;
  const { weight } = origin!;
  if (weight !== 0) ledger.shares.setWeight(job.queue, job.tier, job.path, weight);
  job.origin = undefined;
  ledger.wait(job, false);
}
