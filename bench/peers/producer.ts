// Adds jobs to one system, from a process of its own.

import { setTimeout } from "node:timers/promises";
import { answer } from "../answer.ts";
import { keepInFlight } from "../embedded/load.ts";
import { CLIENTS } from "./clients.ts";
import type { Client, ClientName, Job, Place } from "./system.ts";

const JOB_BYTES = 512;
// Another one at each step and every one of a round, for every count that 7 does not divide.
const STRIDE = 7;
const TICK_MS = 1;

let client: Client;
let text = "";

export interface Paced {
  readonly first: number;
  readonly count: number;
  readonly perSecond: number;
  readonly tenants: number;
}

const now = (): number => performance.timeOrigin + performance.now();

function jobOf(id: number, tenant: number, at = now()): Job {
  const bare = { id, tenant, at, text: "" };
  // A number's digits vary: the text makes up for them.
  text ||= "x".repeat(JOB_BYTES);
  return { ...bare, text: text.slice(JSON.stringify(bare).length) };
}

function bulk(first: number, count: number, tenants: number): Promise<void> {
  const { jobs } = client.bulk;
  let next = first;
  return keepInFlight(client.bulk.inFlight, Math.ceil(count / jobs), async () => {
    const from = next;
    const end = Math.min(first + count, from + jobs);
    next = end;
    const batch: Job[] = [];
    for (let id = from; id < end; id++) batch.push(jobOf(id, (id * STRIDE) % tenants));
    await client.addBulk(batch);
  });
}

// One after the other, with a rest in which the last one is out of the way.
async function singles(first: number, count: number, restMs: number): Promise<void> {
  for (let id = first; id < first + count; id++) {
    await client.add(jobOf(id, 0));
    await setTimeout(restMs);
  }
}

// The next add does not wait for the previous one. Jobs that are due at the same time are added
// together. All tenants but 0 get a job in turn.
async function paced({ first, count, perSecond, tenants }: Paced): Promise<void> {
  const gapMs = 1000 / perSecond;
  const beginAt = now();
  const adds: Promise<void>[] = [];
  for (let sent = 0; sent < count; ) {
    const due = Math.min(count, Math.floor((now() - beginAt) / gapMs) + 1);
    const batch: Job[] = [];
    for (; sent < due; sent++) {
      const id = first + sent;
      batch.push(jobOf(id, 1 + (id % (tenants - 1)), beginAt + sent * gapMs));
    }
    if (batch.length > 0) adds.push(client.addBulk(batch));
    await setTimeout(TICK_MS);
  }
  await Promise.all(adds);
}

answer({
  async open(name: ClientName, place: Place) {
    const { connect } = await CLIENTS[name]();
    client = await connect(place);
  },

  bulk,
  singles,
  paced,
});
