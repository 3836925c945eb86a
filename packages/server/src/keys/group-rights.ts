/**
 * Rights on groups. A group belongs to the queue that its full name begins with, so the rights on
 * that queue decide, whether the group exists or not.
 */
import { groupName, type NewJob, queueOfGroup, SluiceError } from "@sluice/protocol";
import { type Action, forbidden } from "./grant.ts";
import type { Permit } from "./permit.ts";

export function checkGroup(
  permit: Permit,
  actions: Action | readonly Action[],
  group: string,
): void {
  if (permit.canAll(actions)) return;
  const owner = queueOfGroup(String(group));
  if (owner === "") throw withoutQueue(group);
  permit.check(actions, owner);
}

/** Why a job of this queue may not join the group that it names; undefined: it may. */
export function refuseGroup(permit: Permit, queue: string, job: NewJob): SluiceError | undefined {
  const group: unknown = job?.group;
  if (typeof group !== "string") return undefined;
  const owner = queueOfGroup(groupName(queue, group));
  if (owner === queue || permit.can("produce", owner)) return undefined;
  return forbidden("produce", owner);
}

function withoutQueue(group: string): SluiceError {
  const shown = JSON.stringify(String(group).slice(0, 64));
  const message = `a group is named with its queue, such as "orders/batch-7"; got ${shown}`;
  return new SluiceError("INVALID", message, { field: "group", value: group });
}
