/**
 * Which partitions this node is standby for. A takeover reads the whole log of a partition, two
 * seconds for a million jobs. So a partition with many jobs has a standby: the node that would get
 * it if its owner died reads its log along, and only has to fence the owner then.
 *
 * So has a partition of a node that is suspected: nearly all of its log was read when the lease is
 * over.
 *
 * It costs the standby the memory of the jobs once more, and the time to apply their facts. A
 * snapshot would cost the owner a write of all jobs each time, and a takeover a read of it.
 */
import { CLAIMS_MAX, STANDBY_JOBS, STANDBY_LEAVE_SHARE, STANDBY_TICKS } from "../limits.ts";
import type { Members } from "./members.ts";
import { Placement } from "./place.ts";

export class Standbys {
  readonly #node: string;
  readonly #partitions: number;
  readonly #jobs: number;
  /** Who gets what without the node of this name. */
  readonly #without = new Map<string, Placement>();
  readonly #ours = new Set<number>();
  #hadSuspects = false;
  #ticks = 0;

  constructor(node: string, partitions: number, jobs: number = STANDBY_JOBS) {
    this.#node = node;
    this.#partitions = partitions;
    this.#jobs = jobs;
  }

  isOurs(partition: number): boolean {
    return this.#ours.has(partition);
  }

  /** Decides again now and then, and while a node is suspected. */
  tick(members: Members, owners: () => readonly (string | undefined)[], now: number): void {
    const suspects = new Set(members.suspects(now));
    const isDue = this.#ticks++ % STANDBY_TICKS === 0 || suspects.size > 0 || this.#hadSuspects;
    this.#hadSuspects = suspects.size > 0;
    if (isDue) this.#look(members, suspects, owners(), now);
  }

  /** By the owners of all partitions, and by what these tell of them. */
  #look(
    members: Members,
    suspects: ReadonlySet<string>,
    owners: readonly (string | undefined)[],
    now: number,
  ): void {
    const nodes = members.placeable(now);
    const jobs = new Map<number, number>();
    for (const { id, lives } of members.all(now)) {
      for (const one of lives) if (owners[one.partition] === id) jobs.set(one.partition, one.jobs);
    }
    // Of suspects a few at once, as they are claimed: a busy machine may have delayed their beats.
    let left = CLAIMS_MAX;
    for (const [partition, owner] of owners.entries()) {
      const isOurs = this.#ours.has(partition);
      // One that shrinks a little is not left: reading it again would cost more.
      const least = isOurs ? this.#jobs * STANDBY_LEAVE_SHARE : this.#jobs;
      const isLarge = (jobs.get(partition) ?? 0) >= least;
      const isSuspect = owner !== undefined && suspects.has(owner) && left > 0;
      const isWanted = (isLarge || isSuspect) && this.#isHeir(partition, owner, nodes);
      if (isWanted && !isLarge) left--;
      if (isWanted) this.#ours.add(partition);
      else this.#ours.delete(partition);
    }
  }

  #isHeir(partition: number, owner: string | undefined, nodes: readonly string[]): boolean {
    if (owner === undefined || owner === this.#node) return false;
    let placement = this.#without.get(owner);
    if (placement === undefined) {
      placement = new Placement(this.#partitions);
      this.#without.set(owner, placement);
    }
    return placement.of(nodes.filter((node) => node !== owner))[partition] === this.#node;
  }
}
