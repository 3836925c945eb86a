import { SluiceError } from "@sluice/protocol";

/** What may be done with a queue: add to it, take from it, and everything. */
export type Action = "produce" | "consume" | "admin";

export const ACTIONS: readonly Action[] = ["produce", "consume", "admin"];

/** One permission: an action on a queue, on all whose names begin alike (`orders.*`), or on all. */
export interface Grant {
  action: Action;
  on: string;
}

/** All there is. */
export const EVERYTHING: readonly Grant[] = [{ action: "admin", on: "*" }];

const NAME = /^[A-Za-z0-9._:-]{1,255}$/;

export function isPattern(on: string): boolean {
  return on === "*" || NAME.test(on.endsWith("*") ? on.slice(0, -1) : on);
}

/** Whether one of the grants allows the action on what is so named. */
export function allows(grants: readonly Grant[], action: Action, name: string): boolean {
  return grants.some((grant) => includes(grant.action, action) && matches(grant.on, name));
}

/** Whether the grants allow anything at all on what is so named. */
export function allowsAny(grants: readonly Grant[], name: string): boolean {
  return grants.some(({ on }) => matches(on, name));
}

/** Whether the action is allowed on everything. */
export function allowsAll(grants: readonly Grant[], action: Action): boolean {
  return grants.some((grant) => grant.on === "*" && includes(grant.action, action));
}

/** Whether whoever has `grants` has `wanted` too, and may give it to others. */
export function covers(grants: readonly Grant[], wanted: Grant): boolean {
  return grants.some(({ action, on }) => includes(action, wanted.action) && within(on, wanted.on));
}

/** An admin may do the rest too. */
function includes(held: Action, wanted: Action): boolean {
  return held === wanted || held === "admin";
}

function matches(on: string, name: string): boolean {
  return on.endsWith("*") ? name.startsWith(on.slice(0, -1)) : on === name;
}

/** Whether all that `inner` matches is matched by `outer`. */
function within(outer: string, inner: string): boolean {
  if (!outer.endsWith("*")) return outer === inner;
  return inner.replace(/\*$/, "").startsWith(outer.slice(0, -1));
}

export function forbidden(action: Action | readonly Action[], name: string): SluiceError {
  const needs = typeof action === "string" ? action : action.join(" or ");
  const what = name === "*" ? "everything" : name;
  return new SluiceError("FORBIDDEN", `this needs ${needs} on ${what}`, { needs, on: name });
}
