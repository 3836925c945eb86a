import { invalid } from "../errors.ts";
import { DURATION_MS_MAX, JOB_GATES_MAX } from "../limits.ts";
import type { NackOptions } from "../types.ts";
import { asObject, name, number } from "./fields.ts";

/** Refuses what a nack cannot mean. */
export function checkNack(options: NackOptions): void {
  asObject("nack", options);
  const { error, stack, delayMs, cooldown, blame, unrecoverable } = options;
  if (error !== undefined && typeof error !== "string")
    throw invalid("nack.error", "a string", error);
  if (stack !== undefined && typeof stack !== "string")
    throw invalid("nack.stack", "a string", stack);
  if (delayMs !== undefined) number("nack.delayMs", delayMs, 0, DURATION_MS_MAX);
  if (unrecoverable !== undefined && typeof unrecoverable !== "boolean") {
    throw invalid("nack.unrecoverable", "true or false", unrecoverable);
  }
  if (cooldown !== undefined) {
    asObject("nack.cooldown", cooldown);
    name("nack.cooldown.gate", cooldown.gate);
    number("nack.cooldown.ms", cooldown.ms, 0, DURATION_MS_MAX);
  }
  if (blame === undefined || blame === false) return;
  if (!Array.isArray(blame) || blame.length > JOB_GATES_MAX) {
    throw invalid("nack.blame", `false or at most ${JOB_GATES_MAX} gates`, blame);
  }
  for (const [i, key] of blame.entries()) name(`nack.blame[${i}]`, key);
}
