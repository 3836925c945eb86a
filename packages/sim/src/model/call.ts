// One call of a world, as data: it can be recorded, printed, dropped and made again.
//
// A job is named by its tag, the number that its add carried as body, because ids change when an
// earlier call is dropped. A lease is named by its distance from the job's current one.

import type { FairnessKey, GateConfig, JobSpec, NackOptions } from "@sluice/engine";
import type { QueueChange } from "@sluice/engine/testing";

interface Held {
  readonly job: number;
  readonly lease: number;
}

interface Fields {
  readonly setQueue: { readonly queue: string; readonly options: QueueChange };
  readonly deleteQueue: { readonly queue: string };
  readonly pause: { readonly queue: string };
  readonly resume: { readonly queue: string };
  readonly purge: { readonly queue: string };
  readonly setLaneWeight: {
    readonly queue: string;
    readonly key: FairnessKey;
    readonly weight: number;
  };
  readonly setGate: { readonly gate: string; readonly config: GateConfig };
  readonly deleteGate: { readonly gate: string };
  readonly cooldown: { readonly gate: string; readonly ms: number };
  readonly clearCooldown: { readonly gate: string };
  readonly report: { readonly gate: string; readonly ok: boolean };
  readonly add: { readonly queue: string; readonly spec: JobSpec };
  readonly addAll: { readonly queue: string; readonly specs: readonly JobSpec[] };
  readonly want: { readonly queue: string; readonly worker: string; readonly slots: number };
  readonly leaveWorker: { readonly queue: string; readonly worker: string };
  // Without `max`: until nothing is due any more.
  readonly dispatch: { readonly max?: number };
  readonly lease: { readonly queue: string; readonly max: number };
  readonly ack: Held;
  readonly giveBack: Held;
  readonly extend: Held & { readonly ms: number };
  readonly nack: Held & { readonly options: NackOptions };
  readonly cancel: { readonly job: number };
  readonly retry: { readonly job: number };
  readonly cancelByKey: { readonly queue: string; readonly key: string };
  readonly redrive: { readonly queue: string; readonly count?: number };
  readonly put: { readonly key: string; readonly value: unknown };
  readonly remove: { readonly key: string };
  readonly bad: { readonly name: string; readonly queue: string };
  readonly tick: unknown;
}

export type Op = keyof Fields;
export type CallOf<O extends Op> = { readonly at: number; readonly op: O } & Fields[O];
export type Call = { [O in Op]: CallOf<O> }[Op];

export function describe(call: Call): string {
  const { at, op, ...rest } = call;
  return `${at} ${op} ${JSON.stringify(rest)}`;
}
