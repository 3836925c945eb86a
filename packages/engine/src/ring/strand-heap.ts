import * as jobFields from "../jobs/job-fields.ts";
import type { JobTable } from "../jobs/job-table.ts";
import type { Table } from "../tables/table.ts";
import * as nodeFields from "./node-fields.ts";

const { JOB_INTS, SEQ } = jobFields;
const { HEAD, HEAP_LEFT, HEAP_RANK, HEAP_RIGHT, HEAP_UP, NODE_INTS, TOP } = nodeFields;

/**
 * The ready strands of each lane, oldest head first: a leftist heap linked through the strands,
 * rooted in the lane's TOP. Most lanes have one ready strand, for which this costs nothing; a lane
 * with a hundred thousand pays O(log n), and never more, for each.
 */
export class StrandHeap {
  readonly #nodes: Table;
  readonly #jobs: JobTable;

  constructor(nodes: Table, jobs: JobTable) {
    this.#nodes = nodes;
    this.#jobs = jobs;
  }

  #get(strand: number, field: number): number {
    return this.#nodes.i[strand * NODE_INTS + field]!;
  }

  #set(strand: number, field: number, value: number): void {
    this.#nodes.i[strand * NODE_INTS + field] = value;
  }

  /** The age of a strand is that of its head. */
  #age(strand: number): number {
    const head = this.#get(strand, HEAD);
    return this.#jobs.f[head * (JOB_INTS / 2) + SEQ]!;
  }

  add(lane: number, strand: number): void {
    const top = this.#get(lane, TOP);
    this.#set(strand, HEAP_RANK, 1);
    this.#setTop(lane, top === 0 ? strand : this.#merge(top, strand));
  }

  remove(lane: number, strand: number): void {
    const left = this.#get(strand, HEAP_LEFT);
    const right = this.#get(strand, HEAP_RIGHT);
    const up = this.#get(strand, HEAP_UP);
    this.#set(strand, HEAP_LEFT, 0);
    this.#set(strand, HEAP_RIGHT, 0);
    this.#set(strand, HEAP_UP, 0);
    const rest = this.#merge(left, right);
    if (up === 0) return this.#setTop(lane, rest);
    this.#set(up, this.#get(up, HEAP_LEFT) === strand ? HEAP_LEFT : HEAP_RIGHT, rest);
    if (rest !== 0) this.#set(rest, HEAP_UP, up);
    this.#repair(up);
  }

  /**
   * Puts a strand whose head has changed back into order. A lane's only ready strand is in order.
   */
  update(lane: number, strand: number): void {
    const nodes = this.#nodes.i;
    const isAlone = nodes[strand * NODE_INTS + HEAP_LEFT] === 0;
    if (isAlone && nodes[lane * NODE_INTS + TOP] === strand) return;
    this.remove(lane, strand);
    this.add(lane, strand);
  }

  #setTop(lane: number, strand: number): void {
    this.#set(lane, TOP, strand);
    if (strand !== 0) this.#set(strand, HEAP_UP, 0);
  }

  #merge(a: number, b: number): number {
    if (a === 0) return b;
    if (b === 0) return a;
    if (this.#age(b) < this.#age(a)) return this.#merge(b, a);
    const right = this.#merge(this.#get(a, HEAP_RIGHT), b);
    this.#set(a, HEAP_RIGHT, right);
    this.#set(right, HEAP_UP, a);
    this.#balance(a);
    return a;
  }

  /** Keeps the shorter side right; answers whether the rank has changed. */
  #balance(strand: number): boolean {
    const left = this.#get(strand, HEAP_LEFT);
    const right = this.#get(strand, HEAP_RIGHT);
    const leftRank = left === 0 ? 0 : this.#get(left, HEAP_RANK);
    const rightRank = right === 0 ? 0 : this.#get(right, HEAP_RANK);
    if (leftRank < rightRank) {
      this.#set(strand, HEAP_LEFT, right);
      this.#set(strand, HEAP_RIGHT, left);
    }
    const rank = Math.min(leftRank, rightRank) + 1;
    if (this.#get(strand, HEAP_RANK) === rank) return false;
    this.#set(strand, HEAP_RANK, rank);
    return true;
  }

  /** Above the first node whose rank holds, nothing has changed. */
  #repair(from: number): void {
    let at = from;
    while (at !== 0 && this.#balance(at)) at = this.#get(at, HEAP_UP);
  }
}
