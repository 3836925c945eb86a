/** What an earlier process left in the queue. */
import { type Group, type Queue, type Sluice, SluiceError } from "sluice";

export interface Payload<Params> {
  readonly submit: string;
  readonly index: number;
  readonly indexer: string;
  readonly params?: Params;
}

/** The jobs of a submit by the index of their task: those that wait, and those that ended. */
export async function jobsOf(sluice: Sluice, group: Group): Promise<Map<number, string>> {
  const jobs = new Map<number, string>();
  for (const { id } of await membersOf(group)) {
    const { payload } = await sluice.job<Payload<unknown>>(id).info();
    jobs.set(payload.index, id);
  }
  return jobs;
}

/**
 * Cancels the tasks of all submits but these: their callers are gone, and a request without a
 * caller is not sent.
 */
export async function cancelOthers<Params>(
  sluice: Sluice,
  queue: Queue<Payload<Params>>,
  kept: ReadonlySet<string>,
): Promise<void> {
  for (const state of ["waiting", "delayed", "running"] as const) {
    for await (const { id, payload } of queue.jobs({ state })) {
      if (!kept.has(payload.submit)) await sluice.job(id).cancel();
    }
  }
}

/** A group that is not kept any more has no members. */
async function membersOf(group: Group): Promise<readonly { id: string }[]> {
  try {
    return (await group.info()).members;
  } catch (error) {
    if (error instanceof SluiceError && error.code === "GROUP_NOT_FOUND") return [];
    throw error;
  }
}
