// The calls that the worlds make, so that an engine with a planted bug can stand in.

import {
  type AddResult,
  Engine,
  type FairnessKey,
  type GateConfig,
  type GateStats,
  type JobSpec,
  type JobView,
  type Lease,
  type NackOptions,
  type QueueConfig,
  type QueueStats,
  type Refusal,
  type Why,
} from "@sluice/engine";
import { letterQueueConfig } from "@sluice/protocol";
import type { GroupView } from "../model/compare.ts";

export interface EnginePort {
  setQueue(name: string, config: QueueConfig, now: number): void;
  deleteQueue(name: string, now: number): void;
  // Changes a queue that is there.
  setPaused(name: string, isPaused: boolean, now: number): void;
  purge(name: string, now: number): void;
  queueNames(): string[];
  queueConfig(name: string): QueueConfig;
  queueStats(name: string): QueueStats;
  setLaneWeight(queue: string, key: FairnessKey, weight: number, now: number): void;
  setGate(keyOrPattern: string, config: GateConfig, now: number): void;
  deleteGate(keyOrPattern: string, now: number): void;
  cooldown(key: string, ms: number, reason: string, now: number): void;
  clearCooldown(key: string, now: number): void;
  reportGate(key: string, ok: boolean, now: number): void;
  gateStats(key: string, now: number): GateStats;
  add(queue: string, spec: JobSpec, now: number): AddResult;
  addAll(queue: string, specs: JobSpec[], now: number): (AddResult | Refusal)[];
  want(queue: string, worker: string, slots: number, now: number): void;
  dispatch(now: number, max?: number): Lease[];
  ack(id: number, lease: number, now: number, result?: unknown): void;
  nack(id: number, lease: number, now: number, options?: NackOptions): void;
  giveBack(id: number, lease: number, now: number): void;
  extend(id: number, lease: number, ms: number, now: number): number;
  cancel(id: number, now: number): boolean;
  cancelByKey(queue: string, dedupeKey: string, now: number): boolean;
  retry(id: number, now: number): void;
  redrive(dlqName: string, filter: { count?: number }, now: number): number;
  tick(now: number): void;
  nextWake(now: number): number;
  job(id: number): JobView | undefined;
  group(name: string): GroupView | undefined;
  why(id: number, now: number): Why;
  storePut(store: string, key: string, value: unknown, now: number): void;
  storeGet(store: string, key: string): unknown;
  storeDelete(store: string, key: string, now: number): unknown;
}

export type MakeEngine = (options: { seed: number }) => EnginePort;

export const makeRealEngine: MakeEngine = (options) =>
  portOf(new Engine({ ...options, letterQueue: letterQueueConfig }));

// An engine, with what the worlds make of its calls.
export function portOf(engine: Engine): EnginePort {
  const { queries, stores } = engine;
  return Object.assign(engine, {
    setPaused: (name: string, paused: boolean, now: number): void =>
      engine.setQueue(name, { ...engine.queueConfig(name), paused }, now),
    queueNames: () => queries.queueNames(),
    queueStats: (name: string) => queries.queueStats(name),
    gateStats: (key: string, now: number) => queries.gateStats(key, now),
    job: (id: number) => queries.job(id),
    group: (name: string) => queries.group(name),
    why: (id: number, now: number) => queries.why(id, now),
    storePut: stores.put.bind(stores),
    storeGet: stores.get.bind(stores),
    storeDelete: stores.delete.bind(stores),
  });
}
