/** What the key of this page may do, so that nothing else is offered. */
import { matchesPattern, type Session } from "@sluice/protocol";

export type Action = "produce" | "consume" | "admin";

/** Whether an action is allowed on a queue; without a name, on any of them: the server decides. */
export function may({ grants, isReadOnly }: Session, action: Action, on?: string): boolean {
  if (isReadOnly && action !== "consume") return false;
  return grants.some(
    (grant) =>
      (grant.action === action || grant.action === "admin") &&
      (on === undefined || on === "" || matchesPattern(grant.on, on)),
  );
}

/** Whether an action is allowed on everything there is. */
export function mayAll({ grants, isReadOnly }: Session, action: Action): boolean {
  if (isReadOnly && action !== "consume") return false;
  return grants.some(({ action: held, on }) => on === "*" && (held === action || held === "admin"));
}

/** Whether a gate may be cooled down: by those to whom it was given, and by those who run all. */
export function mayCool(session: Session, gate: string): boolean {
  if (session.isReadOnly) return false;
  return session.grants.some(({ action, on, gates }) => {
    if (gates !== undefined) return gates.some((pattern) => matchesPattern(pattern, gate));
    return action === "admin" && on === "*";
  });
}
