import { Slots } from "./jobs.ts";
import { KeyTable } from "./keys.ts";
import type { Ending } from "./types.ts";

/** Jobs that were submitted together, and how each of them ended. */
export interface Group {
  readonly name: string;
  open: number;
  /** No more members come: the group ends with its last member. */
  isClosed: boolean;
  members: Map<number, Ending | undefined>;
}

/** Ended groups that can still be asked for. */
const ENDED_KEPT = 1000;

/** The groups: each reports every member's end, then its own, once. */
export class Groups {
  readonly #keys: KeyTable;
  readonly #groups = new Slots<Group>();
  readonly #open = new Set<Group>();
  readonly #ended: Group[] = [];

  constructor(seed: number) {
    this.#keys = new KeyTable(seed);
  }

  /** A job joins; answers the group's number. */
  join(name: string, id: number): number {
    const entry = this.#keys.intern(0, name);
    let group = this.#groups.get(entry);
    if (group === undefined) {
      group = { name, open: 0, isClosed: false, members: new Map() };
      this.#groups.set(entry, group);
      this.#open.add(group);
    }
    group.open++;
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
    return group.isClosed && group.open === 0 ? this.#finish(entry, group) : undefined;
  }

  /** The call that added the last members is over. */
  close(name: string): Group | undefined {
    const entry = this.#keys.find(0, name);
    const group = entry === 0 ? undefined : this.#groups.get(entry);
    if (group === undefined) return undefined;
    group.isClosed = true;
    return group.open === 0 ? this.#finish(entry, group) : undefined;
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

  /** Brings back a group as it was told; the open members are there already, by their jobs. */
  restore(
    name: string,
    members: readonly (readonly [number, Ending | undefined])[],
    ended: boolean,
  ): void {
    if (ended) {
      this.#ended.push({ name, open: 0, isClosed: true, members: new Map(members.map(pair)) });
      return;
    }
    const group = this.#groups.get(this.#keys.find(0, name));
    if (group !== undefined) group.members = new Map(members.map(pair));
  }

  /** A group that is open, or one that ended lately. */
  find(name: string): { group: Group; isEnded: boolean } | undefined {
    const entry = this.#keys.find(0, name);
    const open = entry === 0 ? undefined : this.#groups.get(entry);
    if (open !== undefined) return { group: open, isEnded: false };
    const ended = this.#ended.findLast((group) => group.name === name);
    return ended === undefined ? undefined : { group: ended, isEnded: true };
  }
}

function pair([id, ending]: readonly [number, Ending | undefined]): [number, Ending | undefined] {
  return [id, ending];
}
