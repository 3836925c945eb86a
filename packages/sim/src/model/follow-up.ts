// The latest payload of `keepLast`: what runs when the job that it waited for has ended.

import { Broken } from "../demand.ts";
import { enlist, holdKey, newJob } from "./add.ts";
import type { ModelJob } from "./job.ts";
import type { Model } from "./model.ts";

// A job that ended with a follow-up: the engine has made a new job of the latest payload. Several
// that ended in one call are made in no particular order.
export function adoptFollowUps(model: Model): ModelJob[] {
  const bodyOf = (id: number) => model.eyes.job(id)?.body;
  const awaited = model.awaited.splice(0);
  return awaited.map(() => {
    const id = model.lastId + 1;
    const at = awaited.findIndex(({ job }) => job.followUp?.spec.body === bodyOf(id));
    if (at < 0) throw new Broken("keepLast", `job ${id} is no follow-up of ${idsOf(awaited)}`);
    return makeFollowUp(model, awaited[at]!, id);
  });
}

type Awaited = Model["awaited"][number];

function idsOf(awaited: readonly Awaited[]): string {
  return awaited.map(({ job }) => job.id).join(", ");
}

function makeFollowUp(model: Model, { queue: name, job, age }: Awaited, id: number): ModelJob {
  const queue = model.queues.get(name)!;
  const spec = job.followUp!.spec;
  job.followUp = undefined;
  const next: ModelJob = { ...newJob(model, queue, spec), id };
  enlist(model, queue, next);
  holdKey(model, queue, spec, id);
  if (spec.delayMs === undefined) model.wait(next, age);
  else model.delay(next, model.now + spec.delayMs);
  return next;
}
