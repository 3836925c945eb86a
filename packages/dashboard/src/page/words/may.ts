/** What the key of this page may do, so that nothing else is offered. */
import { type Action, includesAction, matchesPattern, type Session } from "@sluice/protocol";

export type { Action } from "@sluice/protocol";

const READING: readonly Action[] = ["view", "consume"];

/** Whether an action is allowed on a queue; without a name, on any of them: the server decides. */
export function may({ grants, isReadOnly }: Session, action: Action, on?: string): boolean {
  if (isReadOnly && !READING.includes(action)) return false;
  return grants.some(
    (grant) =>
      includesAction(grant.action, action) &&
      (on === undefined || on === "" || matchesPattern(grant.on, on)),
  );
}

/** Whether an action is allowed on everything there is. */
export function mayAll({ grants, isReadOnly }: Session, action: Action): boolean {
  if (isReadOnly && !READING.includes(action)) return false;
  return grants.some(({ action: held, on }) => on === "*" && includesAction(held, action));
}

/** Whether a gate may be cooled down: by those to whom it was given, and by those who run all. */
export function mayCool(session: Session, gate: string): boolean {
  if (session.isReadOnly) return false;
  return session.grants.some(({ action, on, gates }) => {
    if (gates !== undefined) return gates.some((pattern) => matchesPattern(pattern, gate));
    return action === "admin" && on === "*";
  });
}
