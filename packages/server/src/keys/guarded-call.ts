/** A call behind the check that its row describes: which right it needs, and on what. */
import { type CallName, type CallRow, type OperationOptions, queueOfGroup } from "@sluice/protocol";
import { ACTIONS, type Action } from "./grant.ts";
import { type Access, whileAllowed } from "./permit.ts";
import { checkGroup, enterJob, enterStore, forOwnJobs } from "./rights.ts";

export type GuardedCall = (access: Access, args: readonly unknown[]) => Promise<unknown>;

/** A key that may add jobs to a queue, or look at them, may ask about them. */
export const EITHER: readonly Action[] = ["produce", "view"];

const EVERYTHING = "*";

export function guardedCall(name: CallName, row: CallRow): GuardedCall {
  const make = callOf(name, row);
  if (row.about === "job" && row.jobs !== "id") {
    return (access, [items, options]) =>
      forOwnJobs(access, row, items as readonly unknown[], (allowed) =>
        make(access, [allowed, options]),
      );
  }
  const enter = entryOf(name, row);
  if (!row.waits) {
    return async (access, args) => {
      await enter(access, args);
      return make(access, args);
    };
  }
  const at = row.args.length;
  const actions = actionsOf(row);
  return async (access, args) => {
    const on = await enter(access, args);
    // The right may be lost meanwhile; from here on it is watched.
    access.permit.check(actions, on);
    const options = (args[at] ?? {}) as OperationOptions;
    return whileAllowed(access.permit, actions, on, options, (watched) =>
      make(access, [...args.slice(0, at), watched]),
    );
  };
}

type Make = (access: Access, args: readonly unknown[]) => Promise<never>;

/** Makes the call; under an operation id of the caller's own when it is made under one. */
function callOf(name: CallName, { args: { length: at }, repeat }: CallRow): Make {
  return ({ broker, permit }, args) => {
    const fixed = args.slice(0, at);
    while (fixed.length < at) fixed.push(undefined);
    const call = (options: unknown): Promise<never> =>
      (broker[name] as (...args: unknown[]) => Promise<never>)(...fixed, options);
    if (repeat !== "once") return call(args[at]);
    return permit.underOwnId(args[at] as OperationOptions | undefined, call);
  };
}

/** Refuses those who may not make the call; answers the name on which they need their right. */
type Entry = (access: Access, args: readonly unknown[]) => string | Promise<string>;

function entryOf(name: CallName, row: CallRow): Entry {
  const actions = actionsOf(row);
  switch (row.about) {
    case "job":
      return async (access, [id]) => (await enterJob(access, actions, id as string)) ?? EVERYTHING;
    case "group":
      return ({ permit }, [groups]) => enterGroups(permit, actions, groups);
    case "queue":
      return ({ permit }, [queue]) => {
        if (row.may === "any") permit.enterAny(queue as string);
        else permit.enter(actions, queue as string);
        return queue as string;
      };
    case "gate":
      return ({ permit }, [key]) => {
        const gate = String(key);
        if (row.may === "key") permit.enterValid();
        else if (row.may === "cool") permit.enterGate(`call \`${name}\` on`, gate);
        else permit.enterGateLimits(gate);
        return gate;
      };
    case "store":
      return ({ permit }, [store]) => {
        enterStore(permit, row.may, store as string);
        return store as string;
      };
    case "broker":
      return ({ permit }) => {
        permit.enterValid();
        return EVERYTHING;
      };
  }
}

function enterGroups(
  permit: Access["permit"],
  actions: readonly Action[],
  groups: unknown,
): string {
  permit.enterValid();
  // One name, or a list of them; the broker refuses what is neither.
  for (const group of Array.isArray(groups) ? groups : [groups]) {
    checkGroup(permit, actions, group as string);
  }
  return Array.isArray(groups) ? EVERYTHING : queueOfGroup(String(groups));
}

function actionsOf({ may }: CallRow): readonly Action[] {
  if (may === "either") return EITHER;
  return may === "any" || may === "key" || may === "cool" ? ACTIONS : [may];
}
