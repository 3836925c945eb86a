import type { JobTable } from "../jobs/job-table.ts";
import { Fifo } from "../tables/fifo.ts";
import { ENTERS, JOB, LETS_GO, Links, SETTLES, STATE } from "./links.ts";

/**
 * Jobs that wait for other jobs.
 *
 * A job that waits for others is *blocked*. Each of its edges counts until its dependency has ended
 * in a way that the edge accepts. When no edge counts any more, the job is unblocked. When an edge
 * of the kind `fail` meets a failure, the job fails. An ended job with edges is *needed*: it is in
 * no list of kept jobs, and nothing forgets it. When the dependent of an edge has ended, the edge
 * is removed. A needed job without edges is *released*: it is kept like any other from then on.
 *
 * A flow that is not sealed is a node too, with an edge to each of its jobs.
 *
 * All of this may concern a hundred thousand jobs at once, so it is done a step at a time: five
 * lists say what is left. A replay walks `settling` and `letting` at once, because nothing is
 * decided there, and leaves `due` and `bare` to the facts.
 */
export class Flows {
  readonly links = new Links();
  readonly #jobs: JobTable;
  /** Nodes of jobs that are not known, by their ids: told later, or forgotten with their queue. */
  readonly #nodeOfId = new Map<number, number>();
  readonly #idOfNode = new Map<number, number>();
  /** Flows that are not sealed, or whose jobs have not all learnt of it; the oldest first. */
  readonly open = new Map<number, OpenFlow>();
  readonly #flowOfNode = new Map<number, OpenFlow>();
  /** Nodes whose dependents must learn of their end, and where the walk over the first is. */
  readonly settling = new Fifo();
  walking = 0;
  cursor = 0;
  /** Nodes of ended jobs whose dependencies are let go. */
  readonly letting = new Fifo();
  /** Flows whose jobs are being cancelled. */
  readonly cancelling = new Fifo();
  /** Rows of blocked jobs that go on, or fail. */
  readonly due = new Fifo();
  /** Rows of needed jobs that have no edges any more. */
  readonly bare = new Fifo();

  constructor(jobs: JobTable) {
    this.#jobs = jobs;
  }

  /** The node of a job, made when it has none. */
  needNode(row: number): number {
    const had = this.#jobs.node(row);
    if (had !== 0) return had;
    const node = this.links.nodes.alloc();
    this.links.setNode(node, JOB, row);
    this.#jobs.setNode(row, node);
    return node;
  }

  /** The node of a job that is not known. */
  needUnknown(id: number): number {
    const had = this.#nodeOfId.get(id);
    if (had !== undefined) return had;
    const node = this.links.nodes.alloc();
    this.#nodeOfId.set(id, node);
    this.#idOfNode.set(node, id);
    return node;
  }

  /** 0 when no job waits for this one. */
  unknownNode(id: number): number {
    return this.#nodeOfId.get(id) ?? 0;
  }

  unknownId(node: number): number {
    return this.#idOfNode.get(node)!;
  }

  /** Nodes of all jobs that are not known. */
  unknownNodes(): number[] {
    return [...this.#idOfNode.keys()];
  }

  /** Binds a job to the node on which others already wait. Returns the node; 0: none waits. */
  bind(row: number, id: number): number {
    const node = this.#nodeOfId.get(id) ?? 0;
    if (node === 0) return 0;
    this.#nodeOfId.delete(id);
    this.#idOfNode.delete(node);
    this.links.setNode(node, JOB, row);
    this.#jobs.setNode(row, node);
    return node;
  }

  /** A job is forgotten; who waits for it still knows how it ended. */
  unbind(row: number, id: number): void {
    const node = this.#jobs.node(row);
    this.#jobs.setNode(row, 0);
    this.links.setNode(node, JOB, 0);
    this.#nodeOfId.set(id, node);
    this.#idOfNode.set(node, id);
    this.#freeIfDone(node);
  }

  /** A needed job is released: it has no edges. */
  dropNode(row: number): void {
    const node = this.#jobs.node(row);
    this.#jobs.setNode(row, 0);
    if (node === 0) return;
    this.links.setNode(node, JOB, 0);
    this.#freeIfDone(node);
  }

  needFlow(id: number): OpenFlow {
    const had = this.open.get(id);
    if (had !== undefined) return had;
    const node = this.links.nodes.alloc();
    const flow: OpenFlow = { id, node, until: 0, state: "open" };
    this.open.set(id, flow);
    this.#flowOfNode.set(node, flow);
    return flow;
  }

  flowAt(node: number): OpenFlow | undefined {
    return this.#flowOfNode.get(node);
  }

  /** Takes away the first edge that enters a node. */
  dropFirst(to: number): void {
    const { links } = this;
    const edge = links.node(to, ENTERS);
    if (edge === this.cursor) this.cursor = links.nextFrom(edge);
    const from = links.dropFirst(to);
    if (links.isBare(from)) this.nowBare(from);
  }

  /** A node has lost its last edge. */
  nowBare(node: number): void {
    const row = this.links.node(node, JOB);
    if (row !== 0 && this.#jobs.isNeeded(row)) this.bare.push(row);
    else this.#freeIfDone(node);
  }

  #freeIfDone(node: number): void {
    const { links } = this;
    if (!links.isBare(node) || (links.node(node, STATE) & (SETTLES | LETS_GO)) !== 0) return;
    const flow = this.#flowOfNode.get(node);
    if (flow?.state === "open") return;
    if (flow !== undefined) this.open.delete(flow.id);
    this.#flowOfNode.delete(node);
    const row = links.node(node, JOB);
    if (row !== 0) this.#jobs.setNode(row, 0);
    const id = this.#idOfNode.get(node);
    if (id !== undefined) this.#nodeOfId.delete(id);
    this.#idOfNode.delete(node);
    links.nodes.free(node);
  }

  get bytes(): number {
    return this.links.bytes;
  }
}

/** A flow whose jobs are not eligible yet. */
export interface OpenFlow {
  readonly id: number;
  readonly node: number;
  /** When it is cancelled unless it is sealed; 0: not told yet. */
  until: number;
  state: "open" | "sealed" | "cancelled";
}
