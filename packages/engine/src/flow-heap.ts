import * as jobFields from "./job-fields.ts";
import type { Jobs } from "./jobs.ts";
import * as nodeFields from "./nodes.ts";
import type { Table } from "./table.ts";

const { JOB_INTS, SEQ } = jobFields;
const { HEAD, HEAP_LEFT, HEAP_RANK, HEAP_RIGHT, HEAP_UP, NODE_INTS, TOP } = nodeFields;

/**
 * The ready flows of each lane, oldest head first: a leftist heap linked through the flows, rooted
 * in the lane's TOP. Most lanes have one ready flow, for which this costs nothing; a lane with a
 * hundred thousand pays O(log n), and never more, for each.
 */
export class FlowHeap {
  readonly #nodes: Table;
  readonly #jobs: Jobs;

  constructor(nodes: Table, jobs: Jobs) {
    this.#nodes = nodes;
    this.#jobs = jobs;
  }

  #get(flow: number, field: number): number {
    return this.#nodes.i[flow * NODE_INTS + field]!;
  }

  #set(flow: number, field: number, value: number): void {
    this.#nodes.i[flow * NODE_INTS + field] = value;
  }

  /** The age of a flow is that of its head. */
  #age(flow: number): number {
    const head = this.#get(flow, HEAD);
    return this.#jobs.f[head * (JOB_INTS / 2) + SEQ]!;
  }

  add(lane: number, flow: number): void {
    const top = this.#get(lane, TOP);
    this.#set(flow, HEAP_RANK, 1);
    this.#setTop(lane, top === 0 ? flow : this.#merge(top, flow));
  }

  remove(lane: number, flow: number): void {
    const left = this.#get(flow, HEAP_LEFT);
    const right = this.#get(flow, HEAP_RIGHT);
    const up = this.#get(flow, HEAP_UP);
    this.#set(flow, HEAP_LEFT, 0);
    this.#set(flow, HEAP_RIGHT, 0);
    this.#set(flow, HEAP_UP, 0);
    const rest = this.#merge(left, right);
    if (up === 0) return this.#setTop(lane, rest);
    this.#set(up, this.#get(up, HEAP_LEFT) === flow ? HEAP_LEFT : HEAP_RIGHT, rest);
    if (rest !== 0) this.#set(rest, HEAP_UP, up);
    this.#repair(up);
  }

  /** Puts a flow whose head has changed back into order. A lane's only ready flow is in order. */
  update(lane: number, flow: number): void {
    if (this.#get(lane, TOP) === flow && this.#get(flow, HEAP_LEFT) === 0) return;
    this.remove(lane, flow);
    this.add(lane, flow);
  }

  #setTop(lane: number, flow: number): void {
    this.#set(lane, TOP, flow);
    if (flow !== 0) this.#set(flow, HEAP_UP, 0);
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
  #balance(flow: number): boolean {
    const left = this.#get(flow, HEAP_LEFT);
    const right = this.#get(flow, HEAP_RIGHT);
    const leftRank = left === 0 ? 0 : this.#get(left, HEAP_RANK);
    const rightRank = right === 0 ? 0 : this.#get(right, HEAP_RANK);
    if (leftRank < rightRank) {
      this.#set(flow, HEAP_LEFT, right);
      this.#set(flow, HEAP_RIGHT, left);
    }
    const rank = Math.min(leftRank, rightRank) + 1;
    if (this.#get(flow, HEAP_RANK) === rank) return false;
    this.#set(flow, HEAP_RANK, rank);
    return true;
  }

  /** Above the first node whose rank holds, nothing has changed. */
  #repair(from: number): void {
    let at = from;
    while (at !== 0 && this.#balance(at)) at = this.#get(at, HEAP_UP);
  }
}
