/**
 * What a key may do with a queue, and the roles that stand for it. Which action a call needs is in
 * its row of the table of calls.
 */
export const ACTIONS = ["view", "produce", "consume", "operate", "admin"] as const;

/**
 * `view` reads jobs and queues, `produce` adds jobs, `consume` takes them, `operate` acts on jobs
 * and pauses, `admin` does everything.
 */
export type Action = (typeof ACTIONS)[number];

export interface SessionGrant {
  action: Action;
  on: string;
  /** Gates that it may cool down. */
  gates?: readonly string[];
}

const INCLUDED: Readonly<Record<Action, readonly Action[]>> = {
  view: ["view"],
  produce: ["produce"],
  consume: ["consume", "view"],
  operate: ["operate", "produce", "view"],
  admin: ACTIONS,
};

export function includesAction(held: Action, wanted: Action): boolean {
  return INCLUDED[held].includes(wanted);
}

export const KEY_ROLES = ["viewer", "operator", "admin"] as const;

export type KeyRole = (typeof KEY_ROLES)[number];

const ROLE_ACTIONS: Readonly<Record<KeyRole, Action>> = {
  viewer: "view",
  operator: "operate",
  admin: "admin",
};

/** The grants of a role. Gates belong to all queues: only an operator of all may cool them. */
export function roleGrants(role: KeyRole, on = "*"): SessionGrant[] {
  const action = ROLE_ACTIONS[role];
  return [role === "operator" && on === "*" ? { action, on, gates: ["*"] } : { action, on }];
}
