import { KeyTable } from "../tables/keys.ts";
import type { Ending } from "../types.ts";
import { ChunkedArray } from "./job-table.ts";

/** Jobs that were submitted together, and how each of them ended. */
export interface Group {
  readonly name: string;
  open: number;
  /** The call that added its members is over: the group ends with its last member. */
  isClosed: boolean;
  /** More members come with another call: the group does not end before it is released. */
  isHeld: boolean;
  members: Map<number, Ending | undefined>;
}

/** Ended groups that can still be asked for. */
const ENDED_KEPT = 1000;

/** The groups: each reports every member's end, then its own, once. */
export class Groups {
  readonly #keys: KeyTable;
  readonly #groups = new ChunkedArray<Group>();
  readonly #open = new Set<Group>();
  readonly #ended: Group[] = [];
  /** Members whose group came before their jobs in a replay. */
  readonly #awaited = new Map<number, number>();

  constructor(seed: number) {
    this.#keys = new KeyTable(seed);
  }

  /** A job joins; answers the group's number. */
  join(name: string, id: number): number {
    const entry = this.#keys.intern(0, name);
    let group = this.#groups.get(entry);
    if (group === undefined) {
      group = { name, open: 0, isClosed: false, isHeld: false, members: new Map() };
      this.#groups.set(entry, group);
      this.#open.add(group);
    }
    // A group that came before its members knows them already.
    if (!this.#awaited.delete(id)) group.open++;
    group.members.set(id, undefined);
    return entry;
  }

  nameOf(entry: number): string {
    return this.#keys.keyOf(entry);
  }

  /** A member has ended; answers the group when it ends with it. */
  end(entry: number, id: number, ending: Ending): Group | undefined {
    const group = this.#groups.get(entry)!;
    group.open--;
    group.members.set(id, ending);
    return this.#finishIfOver(entry, group);
  }

  /** The call that added members is over. */
  close(name: string): Group | undefined {
    const group = this.#findOpen(name);
    if (group === undefined) return undefined;
    group.isClosed = true;
    return this.#finishIfOver(this.#keys.find(0, name), group);
  }

  /** More members come with another call; false when there is no such group, or it is held. */
  hold(name: string): boolean {
    const group = this.#findOpen(name);
    if (group === undefined || group.isHeld) return false;
    group.isHeld = true;
    return true;
  }

  /** No more members will be added; undefined if the group was not held. */
  release(name: string): { isEnded: boolean } | undefined {
    const group = this.#findOpen(name);
    if (group?.isHeld !== true) return undefined;
    group.isHeld = false;
    return { isEnded: this.close(name) !== undefined };
  }

  /** Names of the groups that are held. */
  *held(): Generator<string> {
    for (const { name, isHeld } of this.#open) if (isHeld) yield name;
  }

  #findOpen(name: string): Group | undefined {
    const entry = this.#keys.find(0, name);
    return entry === 0 ? undefined : this.#groups.get(entry);
  }

  #finishIfOver(entry: number, group: Group): Group | undefined {
    const isOver = group.isClosed && !group.isHeld && group.open === 0;
    return isOver ? this.#finish(entry, group) : undefined;
  }

  #finish(entry: number, group: Group): Group {
    this.#groups.set(entry, undefined);
    this.#open.delete(group);
    this.#keys.remove(entry);
    this.#ended.push(group);
    if (this.#ended.length > ENDED_KEPT) this.#ended.shift();
    return group;
  }

  /** The groups that are open, and those that ended lately. */
  *all(): Generator<{ group: Group; ended: boolean }> {
    for (const group of this.#ended) yield { group, ended: true };
    for (const group of this.#open) yield { group, ended: false };
  }

  /** Restores a group from its fact, which comes before or after its open members. */
  restore(
    name: string,
    members: readonly (readonly [number, Ending | undefined])[],
    ended: boolean,
    isHeld = false,
  ): void {
    const had = this.#keys.find(0, name);
    const known = had === 0 ? undefined : this.#groups.get(had);
    const group = { name, open: 0, isClosed: true, isHeld, members: new Map(members.map(pair)) };
    if (ended) return this.#restoreEnded(group);
    const entry = this.#keys.intern(0, name);
    for (const [id, ending] of members) {
      const isThere = known !== undefined && this.#isThere(known, id);
      // The replay still has to drop a job of a deleted queue, and ends it here when it does.
      if (isThere) group.members.set(id, undefined);
      if (ending === undefined && !isThere) this.#awaited.set(id, entry);
      else this.#awaited.delete(id);
      if (ending === undefined || isThere) group.open++;
    }
    if (known !== undefined) this.#open.delete(known);
    this.#groups.set(entry, group);
    this.#open.add(group);
  }

  /** Whether the job of an open member is in the table, and names the group. */
  #isThere({ members }: Group, id: number): boolean {
    return members.has(id) && members.get(id) === undefined && !this.#awaited.has(id);
  }

  /** A name may be used again after its group has ended: the group of later jobs comes later. */
  #restoreEnded(group: Group): void {
    const others = this.#ended.filter(({ name }) => name === group.name);
    // Facts emitted while a checkpoint was made know only the members that came after it.
    const part = others.find(({ members }) => isWithin(members, group.members));
    if (part !== undefined) {
      this.#ended[this.#ended.indexOf(part)] = group;
      return;
    }
    if (others.some((other) => firstOf(other) === firstOf(group))) return;
    const next = others.find((other) => firstOf(other) > firstOf(group));
    const at = next === undefined ? this.#ended.length : this.#ended.indexOf(next);
    this.#ended.splice(at, 0, group);
  }

  /** A member has ended before the record of its job came. */
  endAwaited(id: number, ending: Ending): void {
    const entry = this.#awaited.get(id);
    if (entry === undefined) return;
    this.#awaited.delete(id);
    this.end(entry, id, ending);
  }

  /** Members of one or all groups whose records never came: they were deleted with their queue. */
  endAllAwaited(name?: string): void {
    const entry = name === undefined ? 0 : this.#keys.find(0, name);
    for (const [id, group] of this.#awaited) {
      if (name === undefined || group === entry) this.endAwaited(id, "cancelled");
    }
  }

  /** A group that is open, or one that ended lately. */
  find(name: string): { group: Group; isEnded: boolean } | undefined {
    const open = this.#findOpen(name);
    if (open !== undefined) return { group: open, isEnded: false };
    const ended = this.#ended.findLast((group) => group.name === name);
    return ended === undefined ? undefined : { group: ended, isEnded: true };
  }
}

function isWithin(some: Group["members"], all: Group["members"]): boolean {
  for (const id of some.keys()) if (!all.has(id)) return false;
  return true;
}

function firstOf({ members }: Group): number {
  return members.keys().next().value ?? 0;
}

function pair([id, ending]: readonly [number, Ending | undefined]): [number, Ending | undefined] {
  return [id, ending];
}
