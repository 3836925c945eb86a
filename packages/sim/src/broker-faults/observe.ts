// All that can be seen of a broker from outside.

import {
  allQueues,
  type Broker,
  type GroupInfo,
  type JobInfo,
  type PageStart,
  type QueueInfo,
  SluiceError,
  type StoreEntry,
  walkPages,
} from "@sluice/protocol";
import { readBody } from "./body.ts";
import { isUnwatched, type Seen, type SeenJob } from "./record.ts";

const PAGE = 200;
const LISTS_MAX = 20;
/** More than a simulation ever has. */
const GATES_MAX = 1_000;

export async function observe(
  broker: Broker,
  stores: readonly string[],
  groups: readonly string[],
): Promise<Seen> {
  const { queues, jobs } = await stillOf(broker);
  const told: { store: string; entries: StoreEntry[] }[] = [];
  for (const store of stores) told.push({ store, entries: await entriesOf(broker, store) });
  return {
    queues: queues.map(({ name, stats }) => ({ name, stats })),
    jobs,
    gates: (await broker.gates({ limit: GATES_MAX })).items,
    stores: told,
    groups: await groupsOf(broker, groups),
  };
}

// Lists take a while, in which leases run out, delays end and a job dies into another queue, even
// one that was not there before: then they are made again.
async function stillOf(broker: Broker): Promise<{ queues: readonly QueueInfo[]; jobs: SeenJob[] }> {
  for (let tries = 1; ; tries++) {
    const before = await watched(broker);
    const jobs: SeenJob[] = [];
    for (const { name } of before) jobs.push(...(await jobsOf(broker, name)));
    const queues = await watched(broker);
    const isStill = JSON.stringify(before) === JSON.stringify(queues);
    if (isStill || tries === LISTS_MAX) return { queues, jobs };
  }
}

async function watched(broker: Broker): Promise<readonly QueueInfo[]> {
  return (await allQueues(broker)).filter(({ name }) => !isUnwatched(name));
}

async function jobsOf(broker: Broker, queue: string): Promise<SeenJob[]> {
  const ask = (from: PageStart) => broker.jobs(queue, { limit: PAGE, ...from });
  return (await Array.fromAsync(walkPages(ask))).map(seenOf);
}

function seenOf(job: JobInfo): SeenJob {
  const { id, queue, state, attempt, at } = job;
  return { id, queue, state, attempt, at, body: readBody(job) };
}

function entriesOf(broker: Broker, store: string): Promise<StoreEntry[]> {
  return Array.fromAsync(walkPages((from) => broker.storeScan(store, { limit: PAGE, ...from })));
}

// Those that are still known.
async function groupsOf(broker: Broker, groups: readonly string[]): Promise<GroupInfo[]> {
  const found: GroupInfo[] = [];
  for (const group of groups) {
    try {
      found.push(await broker.group(group));
    } catch (error) {
      if (!(error instanceof SluiceError && error.code === "GROUP_NOT_FOUND")) throw error;
    }
  }
  return found;
}

const PROBE = "probe";
const PROBE_MS = 1_000;

// What time it is for the broker: the only thing that tells is something that it dates.
export async function timeOf(broker: Broker): Promise<number> {
  await broker.cooldown(PROBE, PROBE_MS);
  const { cooldown } = await broker.gate(PROBE);
  await broker.clearCooldown(PROBE);
  return (cooldown?.until ?? 0) - PROBE_MS;
}
