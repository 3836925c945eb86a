import {
  type Action,
  includesAction,
  isWithinPattern,
  matchesPattern,
  SluiceError,
} from "@sluice/protocol";

export { ACTIONS, type Action } from "@sluice/protocol";

/**
 * One permission: an action on a queue, on all whose names begin alike (`orders.*`), or on all.
 *
 * `gates` are patterns too. With them, jobs that are added by this permission may name those gates
 * and no others, and the key may cool them down, end their cooldowns and report to their ladders.
 * Without them, jobs may name every gate and the key may cool none, except for `admin` on `*`.
 */
export interface Grant {
  action: Action;
  on: string;
  gates?: readonly string[];
}

/** All there is. */
export const EVERYTHING: readonly Grant[] = [{ action: "admin", on: "*" }];

/** Whether one of the grants allows the action on this name. */
export function allows(grants: readonly Grant[], action: Action, name: string): boolean {
  return grants.some(
    (grant) => includesAction(grant.action, action) && matchesPattern(grant.on, name),
  );
}

/** Whether the grants allow any action on this name. */
export function allowsAny(grants: readonly Grant[], name: string): boolean {
  return grants.some(({ on }) => matchesPattern(on, name));
}

/** On what the action is allowed. */
export function allowedPatterns(grants: readonly Grant[], action: Action): string[] {
  return grants.filter((grant) => includesAction(grant.action, action)).map(({ on }) => on);
}

/** Whether the action is allowed on everything. */
export function allowsAll(grants: readonly Grant[], action: Action): boolean {
  return grants.some((grant) => grant.on === "*" && includesAction(grant.action, action));
}

/** The gates that jobs of this queue may name; undefined: all. */
export function nameableGates(
  grants: readonly Grant[],
  action: Action,
  queue: string,
): readonly string[] | undefined {
  const held = grants.filter(
    (grant) => includesAction(grant.action, action) && matchesPattern(grant.on, queue),
  );
  if (held.some(({ gates }) => gates === undefined)) return undefined;
  return held.flatMap(({ gates }) => gates ?? []);
}

/** The gates that may be cooled down and reported to; undefined: all. */
export function coolableGates(grants: readonly Grant[]): readonly string[] | undefined {
  if (grants.some(runsAll)) return undefined;
  return grants.flatMap(({ gates }) => gates ?? []);
}

/** Whether the limits of a gate, or of all under a pattern, may be set. */
export function setsGate(grants: readonly Grant[], pattern: string): boolean {
  return grants.some(
    ({ action, on, gates }) =>
      action === "admin" && on === "*" && (gates === undefined || isAmong(gates, pattern)),
  );
}

/** Whether `grants` include `wanted`, so that their holder may give it to others. */
export function covers(grants: readonly Grant[], wanted: Grant): boolean {
  const { gates } = wanted;
  const isHeld = grants.some(
    (held) =>
      includesAction(held.action, wanted.action) &&
      isWithinPattern(held.on, wanted.on) &&
      (held.gates === undefined || gates?.every((gate) => isAmong(held.gates!, gate)) === true),
  );
  if (!isHeld) return false;
  const cools = coolableGates(grants);
  // Without gates it cools none, unless it is everything.
  if (gates === undefined) return !runsAll(wanted) || cools === undefined;
  return cools === undefined || gates.every((gate) => isAmong(cools, gate));
}

/** `admin` on everything, with no limit on its gates. */
function runsAll({ action, on, gates }: Grant): boolean {
  return action === "admin" && on === "*" && gates === undefined;
}

/** Whether all that a pattern matches is matched by one of these. */
export function isAmong(patterns: readonly string[], pattern: string): boolean {
  return patterns.some((one) => isWithinPattern(one, pattern));
}

export function forbidden(action: Action | readonly Action[], name: string): SluiceError {
  const needs = typeof action === "string" ? action : action.join(" or ");
  const what = name === "*" ? "everything" : name;
  return new SluiceError("FORBIDDEN", `this call needs the permission ${needs} on ${what}`, {
    needs,
    on: name,
  });
}

/** A gate that the key may not touch in this way. */
export function forbiddenGate(what: string, gate: string): SluiceError {
  const message = `this key may not ${what} gate ${gate}: none of its grants names it in \`gates\``;
  return new SluiceError("FORBIDDEN", message, { gate });
}
