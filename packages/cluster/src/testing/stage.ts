import { afterEach } from "node:test";
import type { FakeClock } from "@sluice/client";
import type { JobFields, LeasedJob, NewJob } from "@sluice/protocol";
import { turningClock } from "@sluice/protocol/testing";
import { hashOf } from "../hash.ts";
import { type ClusterRouter, MemoryDirectory } from "../router/index.ts";
import { MemoryCluster } from "./memory-cluster.ts";

const TURNS = 20;

export interface Stage {
  readonly cluster: MemoryCluster;
  readonly router: ClusterRouter;
  readonly directory: MemoryDirectory;
  readonly clock: FakeClock;
}

const staged: MemoryCluster[] = [];

afterEach(async () => {
  for (const cluster of staged.splice(0)) await cluster.end("close");
});

/** A cluster of 4 partitions and its clock; it ends with the test. */
export function stage(): Stage {
  const clock = turningClock(TURNS);
  const directory = new MemoryDirectory(4);
  const cluster = new MemoryCluster({ directory, clock });
  staged.push(cluster);
  return { cluster, router: cluster.router, directory, clock };
}

export function job(text: string, options: JobFields = {}): NewJob {
  return { payload: new TextEncoder().encode(text), ...options };
}

export function textOf({ payload }: Pick<LeasedJob, "payload">): string {
  return new TextDecoder().decode(payload);
}

/** Fairness keys whose jobs go to one slot of a queue that is spread over so many. */
export function keysOf(slot: number, spread: number, count: number): string[] {
  const keys: string[] = [];
  for (let i = 0; keys.length < count; i++)
    if (hashOf(`k${i}`) % spread === slot) keys.push(`k${i}`);
  return keys;
}

export function partitionsOf(names: readonly { id: string }[]): number[] {
  return names.map(({ id }) => Number(id.split("-")[0]));
}
