// The file that a process reads when it starts. It has no other way to know what happened before.

import type { Memory } from "../broker-faults/workload.ts";
import type { StepFiles } from "./step-load.ts";

export interface Start {
  readonly dir: string;
  readonly folder: string;
  readonly life: number;
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
  // Of the jobs in steps.
  readonly steps: StepFiles;
}

export const STEP_MS = 20;
export const SEGMENT_BYTES = 64 * 1024;
