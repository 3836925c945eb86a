import {
  type Broker,
  type GroupInfo,
  groupName,
  type NewJob,
  queueOfGroup,
  SluiceError,
} from "@sluice/protocol";
import { type Action, forbidden } from "./grant.ts";
import type { Permit } from "./permit.ts";
import { whileAllowed } from "./while-allowed.ts";

const EITHER: readonly Action[] = ["produce", "consume"];

/**
 * The calls about groups. A group belongs to the queue that its full name begins with, so the
 * rights on that queue decide, whether the group exists or not.
 */
export class GuardedGroups implements Pick<Broker, "group" | "groupEnded" | "releaseGroups"> {
  readonly #broker: Broker;
  readonly #permit: Permit;

  constructor(broker: Broker, permit: Permit) {
    this.#broker = broker;
    this.#permit = permit;
  }

  async group(group: string): Promise<GroupInfo> {
    this.#permit.enterValid();
    this.#check(EITHER, group);
    return this.#broker.group(group);
  }

  async groupEnded(
    group: string,
    options?: { signal?: AbortSignal | undefined },
  ): Promise<GroupInfo> {
    this.#permit.enterValid();
    this.#check(EITHER, group);
    const queue = queueOfGroup(group);
    return whileAllowed(this.#permit, EITHER, queue, options?.signal, (signal) =>
      this.#broker.groupEnded(group, { signal }),
    );
  }

  async releaseGroups(groups: readonly string[]): Promise<void> {
    this.#permit.enterValid();
    // The broker refuses what is not a list.
    if (Array.isArray(groups)) for (const group of groups) this.#check("produce", group);
    return this.#broker.releaseGroups(groups);
  }

  /** Why a job of this queue may not join the group that it names; undefined: it may. */
  protected refuseGroup(queue: string, job: NewJob): SluiceError | undefined {
    const group: unknown = job?.group;
    if (typeof group !== "string") return undefined;
    const owner = queueOfGroup(groupName(queue, group));
    if (owner === queue || this.#permit.can("produce", owner)) return undefined;
    return forbidden("produce", owner);
  }

  #check(actions: Action | readonly Action[], group: string): void {
    if (this.#permit.canAll(actions)) return;
    const owner = queueOfGroup(String(group));
    if (owner === "") throw withoutQueue(group);
    if (!this.#permit.can(actions, owner)) throw forbidden(actions, owner);
  }
}

function withoutQueue(group: string): SluiceError {
  const shown = JSON.stringify(String(group).slice(0, 64));
  const message = `a group is named with its queue, such as "orders/batch-7"; got ${shown}`;
  return new SluiceError("INVALID", message, { field: "group", value: group });
}
