import type { JobSpec, NackOptions, QueueConfig } from "@sluice/engine";
import { DURATION_MS_MAX, GATES_MAX, PATH_LEVELS_MAX, WEIGHT_MAX } from "../limits.ts";
import type { Answer } from "./lua/batch.ts";
import { asKey, asName } from "./names.ts";
import { tierOf } from "./rules.ts";
import { integerReader } from "./values.ts";

/**
 * Applies a script's answer field by field. Invalid fields are ignored, and options that the
 * producer set stay.
 */
export function propose(spec: JobSpec, answer: Answer, config: QueueConfig): void {
  spec.fairnessKey ??= keyOf(answer.fairnessKey);
  spec.gates ??= gatesOf(answer.gates);
  spec.weight ??= readWeight(answer.weight);
  if (answer.priority !== undefined) spec.priority ??= tierOf(answer.priority, config);
  if (spec.runAt === undefined) spec.delayMs ??= readDelay(answer.delayMs);
}

const readWeight = integerReader(1, WEIGHT_MAX);

function keyOf(key: Answer["fairnessKey"]): string | string[] | undefined {
  if (typeof key !== "object") return key === undefined ? key : asKey(key);
  return key.length > 0 && key.length <= PATH_LEVELS_MAX ? key.map(asKey) : undefined;
}

function gatesOf(gates: readonly string[] | undefined): string[] | undefined {
  const names = [...new Set(gates?.map(asName))];
  const isFine = names.length > 0 && names.length <= GATES_MAX && !names.includes("");
  return isFine ? names : undefined;
}

/** Whole milliseconds: a script may well multiply by 1.5. */
function readDelay(delayMs: number | undefined): number | undefined {
  const isFine = delayMs !== undefined && delayMs >= 0 && delayMs <= DURATION_MS_MAX;
  return isFine ? Math.ceil(delayMs) : undefined;
}

/** Applies a script's answer to a failure. Options that the worker set stay. */
export function applyAnswer(said: NackOptions, { action, delayMs }: Answer): NackOptions {
  if (action === "dlq") return { ...said, unrecoverable: true };
  const delay = said.delayMs ?? readDelay(delayMs);
  return delay === undefined ? said : { ...said, delayMs: delay };
}
