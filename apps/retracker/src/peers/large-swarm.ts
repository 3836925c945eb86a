/** What a swarm of many peers needs besides its list: the rows by address, and the oldest ones. */
import { networkOf } from "../wire/announce.ts";
import type { PeerRows } from "./peer-rows.ts";

/** Rows that one look over the whole swarm finds, for as many evictions. */
const OLDEST_KEPT = 256;

export class LargeSwarm {
  readonly #rows: PeerRows;
  readonly #byNetwork = new Map<string, number[]>();
  /** The oldest rows when they were looked for, the newest of them first, with their times. */
  #oldest: { row: number; seen: number }[] = [];

  constructor(rows: PeerRows, members: Iterable<number>) {
    this.#rows = rows;
    for (const row of members) this.add(row);
  }

  add(row: number): void {
    const network = networkOf(this.#rows.addressOf(row));
    const known = this.#byNetwork.get(network);
    if (known === undefined) this.#byNetwork.set(network, [row]);
    else known.push(row);
  }

  remove(row: number): void {
    const network = networkOf(this.#rows.addressOf(row));
    const known = this.#byNetwork.get(network)!;
    known.splice(known.indexOf(row), 1);
    if (known.length === 0) this.#byNetwork.delete(network);
    // Its number is given to another peer, of this swarm perhaps, in the same second perhaps.
    this.#oldest = this.#oldest.filter((one) => one.row !== row);
  }

  rowAt(address: string, port: number): number {
    const known = this.#byNetwork.get(networkOf(address));
    return known?.find((row) => this.#rows.isAt(row, address, port)) ?? -1;
  }

  rowsFrom(network: string): readonly number[] {
    return this.#byNetwork.get(network) ?? [];
  }

  /**
   * The member that has been silent for longest. Times only rise. So a member that was among the
   * oldest and has been silent since is older than every member that was not among them.
   */
  oldest(members: Iterable<number>): number {
    for (;;) {
      const one = this.#oldest.at(-1);
      if (one !== undefined && this.#rows.seenAt(one.row) === one.seen) return one.row;
      if (one === undefined) this.#look(members);
      else this.#oldest.pop();
    }
  }

  #look(members: Iterable<number>): void {
    const all = Array.from(members, (row) => ({ row, seen: this.#rows.seenAt(row) }));
    all.sort((a, b) => a.seen - b.seen);
    this.#oldest = all.slice(0, OLDEST_KEPT).reverse();
  }
}
