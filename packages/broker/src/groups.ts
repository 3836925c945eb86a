import type { CallOptions, GroupInfo } from "@sluice/protocol";
import type { EngineCalls } from "./engine-calls.ts";
import type { Ends } from "./events.ts";
import { groupInfo } from "./events.ts";
import type { HeldGroups } from "./held-groups.ts";

interface GroupParts {
  readonly calls: EngineCalls;
  readonly ends: Ends;
  readonly heldGroups: HeldGroups;
}

/** The calls about groups. */
export class GroupCalls {
  readonly #of: GroupParts;

  constructor(of: GroupParts) {
    this.#of = of;
  }

  async group(group: string): Promise<GroupInfo> {
    return this.#of.calls.call((engine) => groupInfo(group, engine));
  }

  async groupEnded(group: string, { signal }: CallOptions = {}): Promise<GroupInfo> {
    return this.#of.calls.call(() => this.#of.ends.waitGroup(group, signal));
  }

  async releaseGroups(groups: readonly string[]): Promise<void> {
    await this.#of.calls.change(() => this.#of.heldGroups.release(groups));
  }
}
