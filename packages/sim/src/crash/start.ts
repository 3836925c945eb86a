// What a process is told when it starts, in a file: it has no other way to know what was before.

import type { Memory } from "../broker-faults/workload.ts";

export interface Start {
  readonly dir: string;
  // Where its history goes.
  readonly history: string;
  readonly seed: number;
  // The same for all lives.
  readonly planSeed: number;
  readonly isFirst: boolean;
  readonly firstCall: number;
  readonly firstNumber: number;
  readonly groups: readonly string[];
  readonly memory: Memory;
}

export const STEP_MS = 20;
export const SEGMENT_BYTES = 64 * 1024;
