/**
 * What a failure may do to gates. The caller may have rights on some gates only; beside those it
 * may cool down and blame the gates that the queue's own policy put on the job. The gates that a
 * producer named are not enough: a producer can name any gate.
 */
import type { Engine, NackOptions } from "@sluice/engine";
import { matchesPattern, type Nack, type QueuePolicy, SluiceError } from "@sluice/protocol";

/** The nack with its default blame narrowed to gates that the caller may blame. */
export function allowedNack(
  engine: Engine,
  token: { job: number; lease: number },
  { mayCool, ...nack }: Omit<Nack, "lease" | "error">,
): NackOptions {
  if (mayCool === undefined) return nack;
  // A lease that is lost is refused as such, whatever else is wrong.
  engine.checkLease(token.job, token.lease);
  const mayTouch = mayTouchOf(engine, token.job, mayCool);
  const { cooldown, blame } = nack;
  const foreign = named(nack).find((gate) => !mayTouch(gate));
  if (foreign !== undefined) throw forbidden(foreign);
  if (blame !== undefined || cooldown !== undefined) return nack;
  const { gates } = engine.queries.job(token.job)!;
  return { ...nack, spare: gates.filter((gate) => !mayTouch(gate)) };
}

/** The gates that a nack names. */
function named({ cooldown, blame }: Omit<Nack, "lease" | "error">): readonly string[] {
  const blamed = blame === undefined || blame === false ? [] : blame;
  return cooldown === undefined ? blamed : [cooldown.gate, ...blamed];
}

function mayTouchOf(
  engine: Engine,
  job: number,
  mayCool: readonly string[],
): (gate: string) => boolean {
  const { gates, policyGates, queue } = engine.queries.job(job)!;
  const policy = engine.queueConfig(queue).policy as QueuePolicy | undefined;
  // A policy that was taken away since gives no rights: it may have said which gates it cools.
  const own = policyGates === true && policy !== undefined ? (policy.cools ?? ["*"]) : [];
  const matches = (patterns: readonly string[], gate: string): boolean =>
    patterns.some((pattern) => matchesPattern(pattern, String(gate)));
  return (gate) => matches(mayCool, gate) || (gates.includes(gate) && matches(own, gate));
}

function forbidden(gate: string): SluiceError {
  const shown = JSON.stringify(String(gate).slice(0, 64));
  const message =
    `this key may not cool down or blame gate ${shown}: ` +
    "grant the key that gate, or let the queue's policy put it on the job";
  return new SluiceError("FORBIDDEN", message, { field: "gate", gate });
}
