/** What happens now: who waits, who is asked, who is left alone, with the reason and the time. */
import { ACTIVITY_MAX } from "../limits.ts";
import { gateKey } from "../scheduler/limits-of.ts";
import { PRIORITIES } from "../scheduler/priority.ts";
import type { TorznabService } from "./service.ts";

export interface Waiting {
  readonly indexer: string;
  readonly search: string;
  readonly priority: string;
  readonly since: number;
  readonly reason: string;
  readonly until?: number;
}

export interface Activity {
  readonly queued: readonly Waiting[];
  readonly running: readonly Omit<Waiting, "reason" | "until">[];
  readonly cooling: readonly {
    readonly indexer: string;
    readonly until: number;
    readonly reason: string;
    readonly ladderStep: number;
  }[];
}

export interface TaskJob {
  readonly id: string;
  readonly tier: number;
  readonly addedAt: number;
  readonly payload: { readonly submit: string; readonly indexer: string };
}

export async function activityOf(service: TorznabService): Promise<Activity> {
  const { sluice, indexers } = service.parts;
  const queued = await jobsIn(service, "waiting");
  const running = await jobsIn(service, "running");
  const gates = await Promise.all(
    indexers.all.map(async ({ id }) => ({ id, gate: await sluice.gate(gateKey(id)).info() })),
  );
  return {
    queued: await Promise.all(queued.map((job) => explained(service, job))),
    running: running.map(taskOf),
    cooling: gates.flatMap(({ id, gate: { cooldown, ladderStep } }) =>
      cooldown === undefined ? [] : [{ indexer: id, ...cooldown, ladderStep }],
    ),
  };
}

/** Requests that wait for their turn, of all searches. */
export function waitingTasks(service: TorznabService): Promise<TaskJob[]> {
  return jobsIn(service, "waiting");
}

async function jobsIn(service: TorznabService, state: "waiting" | "running"): Promise<TaskJob[]> {
  const queue = await service.parts.sluice.queue<TaskJob["payload"]>("search");
  const jobs: TaskJob[] = [];
  for await (const job of queue.jobs({ state })) {
    jobs.push(job);
    if (jobs.length === ACTIVITY_MAX) break;
  }
  return jobs;
}

async function explained({ parts }: TorznabService, job: TaskJob): Promise<Waiting> {
  const why = await parts.sluice.why(job.id).catch(() => undefined);
  const until = why !== undefined && "until" in why ? why.until : undefined;
  const reason = why?.text ?? "it has just ended";
  return { ...taskOf(job), reason, ...(until === undefined ? {} : { until }) };
}

function taskOf({ tier, addedAt, payload }: TaskJob): Omit<Waiting, "reason" | "until"> {
  const priority = PRIORITIES[tier] ?? "background";
  return { indexer: payload.indexer, search: payload.submit, priority, since: addedAt };
}
