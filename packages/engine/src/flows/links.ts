import { Table } from "../tables/table.ts";

/**
 * Which jobs wait for which, in two tables: 16 bytes for a job that takes part, 24 for each edge.
 *
 * An edge leads from a job to one that depends on it. It is in two lists: the edges that leave a
 * node, in the order in which they were made (a ring, so that one field names both of its ends),
 * and the edges that enter a node, which are all made together and go one by one from the front.
 * An edge lives until the dependent job has ended: until then its dependency is kept.
 */

/** Of a node: its job's row, 0 when the job is not known. */
export const JOB = 0;
/** The first edge that enters, and the last that leaves; 0: none. */
export const ENTERS = 1;
export const LEAVES = 2;
/** Bits 0 to 2: how the job ended. Then what is still to be done about it. */
export const STATE = 3;

/** It is in the list of those whose dependents must learn of its end. */
export const SETTLES = 1 << 3;
/** It is in the list of ended jobs whose dependencies are let go. */
export const LETS_GO = 1 << 4;

/** Of an edge: the nodes that it leaves and enters. */
export const FROM = 0;
export const TO = 1;
const NEXT = 2;
const PREV = 3;
/** The next edge that enters the same node. */
export const NEXT_IN = 4;
/** Bits 0 and 1: what a failure does. Bits 2 to 4: how the dependency ended; 0: it counts still. */
const SAYS = 5;

export const ON_FAIL = 0;
export const ON_RUN = 1;
export const ON_WAIT = 2;
/** The edge leaves a flow that is not sealed, not a job. */
export const ON_SEAL = 3;

const NODE_INTS = 4;
const EDGE_INTS = 6;

export class Links {
  readonly nodes = new Table(NODE_INTS);
  readonly edges = new Table(EDGE_INTS);

  node(node: number, field: number): number {
    return this.nodes.i[node * NODE_INTS + field]!;
  }

  setNode(node: number, field: number, value: number): void {
    this.nodes.i[node * NODE_INTS + field] = value;
  }

  edge(edge: number, field: number): number {
    return this.edges.i[edge * EDGE_INTS + field]!;
  }

  #set(edge: number, field: number, value: number): void {
    this.edges.i[edge * EDGE_INTS + field] = value;
  }

  /** What happens when the dependency fails. */
  on(edge: number): number {
    return this.edge(edge, SAYS) & 3;
  }

  /** How the dependency ended, as a code; 0: the dependent still waits for it. */
  ending(edge: number): number {
    return this.edge(edge, SAYS) >>> 2;
  }

  setEnding(edge: number, code: number): void {
    this.#set(edge, SAYS, this.on(edge) | (code << 2));
  }

  /** Whether a node has no edges. */
  isBare(node: number): boolean {
    return this.node(node, ENTERS) === 0 && this.node(node, LEAVES) === 0;
  }

  /** Makes an edge: the last that leaves, and the first that enters. */
  link(from: number, to: number, on: number): number {
    const edge = this.edges.alloc();
    this.#set(edge, FROM, from);
    this.#set(edge, TO, to);
    this.#set(edge, SAYS, on);
    this.#set(edge, NEXT_IN, this.node(to, ENTERS));
    this.setNode(to, ENTERS, edge);
    const last = this.node(from, LEAVES);
    const first = last === 0 ? edge : this.edge(last, NEXT);
    this.#set(edge, NEXT, first);
    this.#set(edge, PREV, last === 0 ? edge : last);
    if (last !== 0) {
      this.#set(last, NEXT, edge);
      this.#set(first, PREV, edge);
    }
    this.setNode(from, LEAVES, edge);
    return edge;
  }

  /** The first edge that leaves; 0: none. */
  firstFrom(node: number): number {
    const last = this.node(node, LEAVES);
    return last === 0 ? 0 : this.edge(last, NEXT);
  }

  /** The next edge that leaves the same node; 0: it was the last. */
  nextFrom(edge: number): number {
    return this.node(this.edge(edge, FROM), LEAVES) === edge ? 0 : this.edge(edge, NEXT);
  }

  /** Takes the first edge that enters a node away; answers the node that it left. */
  dropFirst(to: number): number {
    const edge = this.node(to, ENTERS);
    const from = this.edge(edge, FROM);
    this.setNode(to, ENTERS, this.edge(edge, NEXT_IN));
    const next = this.edge(edge, NEXT);
    if (next === edge) this.setNode(from, LEAVES, 0);
    else {
      const prev = this.edge(edge, PREV);
      this.#set(prev, NEXT, next);
      this.#set(next, PREV, prev);
      if (this.node(from, LEAVES) === edge) this.setNode(from, LEAVES, prev);
    }
    this.edges.free(edge);
    return from;
  }

  get bytes(): number {
    return this.nodes.bytes + this.edges.bytes;
  }
}
