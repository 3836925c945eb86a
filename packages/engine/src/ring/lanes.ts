import type { JobTable } from "../jobs/job-table.ts";
import type { KeyTable } from "../tables/keys.ts";
import { PairIndex } from "../tables/pairs.ts";
import type { Table } from "../tables/table.ts";
import type { FairnessKey } from "../types.ts";
import * as nodeFields from "./node-fields.ts";
import type { Rings } from "./ring.ts";
import { StrandHeap } from "./strand-heap.ts";

const { AT_TIER, CHILD, STRAND, STRANDS, GATES, IDLE, IN_LANE, KEY, KIND, LANE } = nodeFields;
const { LANE_NEXT, LANE_PREV, LEVEL, LINK, NODE_INTS, OUT, OWN, QUEUE, REFS, REM } = nodeFields;
const { RING, ROUND, TIER, TOP, USERS, WEIGHT, WHERE } = nodeFields;

/**
 * Keys kept as text beside their bytes; a power of two. A lane and its strand are two nodes, so
 * half of the places are of use: with 1,024, a thousand lanes put each other out, and made 560
 * bytes of garbage for each job.
 */
const READ_KEYS = 4096;

/**
 * Idle nodes looked at for each lane that comes or goes: more than one, so that they never pile up.
 */
const SWEEP = 2;

/** What the lanes must ask of the gates when a strand goes. */
export interface StrandOwner {
  /** The strand is about to be freed: leave every line, give up the gate set. */
  strandGone(strand: number): void;
  /** True when no gate remembers a lead of this strand's lane. */
  isForgettable(strand: number): boolean;
  weightOf(queue: number, path: readonly string[]): number;
}

/**
 * The tree of lanes: from a tier down its levels to lanes and their strands.
 *
 * A lane is found by its key under its parent. It lives as long as one of its strands has jobs, and
 * after that until the position it has reached in its ring means nothing any more; only then is it
 * forgotten, so leaving and coming back earns nothing.
 *
 * A key can be a lane and the first level of a path at once. The lane then becomes a child of the
 * level, so that both together get one share.
 */
export class Lanes {
  readonly heap: StrandHeap;
  /** Whether the latest `strandOf` made its strand. */
  isNew = false;
  /** Keys that were read lately: a job's is read twice, and made of bytes that took 200 ns. */
  readonly #readLanes = new Int32Array(READ_KEYS);
  readonly #readKeys: FairnessKey[] = new Array<FairnessKey>(READ_KEYS).fill("");
  readonly nodes: Table;
  readonly #rings: Rings;
  readonly #keys: KeyTable;
  readonly #strands: PairIndex;
  readonly #owner: StrandOwner;
  /** The row of the table that was looked at last for something to forget. */
  #swept = 0;

  constructor(rings: Rings, jobs: JobTable, keys: KeyTable, owner: StrandOwner) {
    this.nodes = rings.nodes;
    this.#rings = rings;
    this.#keys = keys;
    this.#owner = owner;
    this.heap = new StrandHeap(rings.nodes, jobs);
    this.#strands = new PairIndex(rings.nodes, IN_LANE, GATES, LINK);
  }

  get(node: number, field: number): number {
    return this.nodes.i[node * NODE_INTS + field]!;
  }

  set(node: number, field: number, value: number): void {
    this.nodes.i[node * NODE_INTS + field] = value;
  }

  /** The lane of a key under a tier, made when it is not there. */
  laneOf(tier: number, key: FairnessKey): number {
    // Before anything is looked up: a level without children may be forgotten here.
    this.#sweepRows();
    return typeof key === "string" ? this.#lane(tier, key, key) : this.#laneOfPath(tier, key);
  }

  #laneOfPath(tier: number, key: readonly string[]): number {
    let parent = tier;
    const last = key.length - 1;
    for (let i = 0; i < last; i++) parent = this.#level(parent, key[i]!, key.slice(0, i + 1));
    return this.#lane(parent, key[last]!, key);
  }

  /** The lane of a key if it is there, else 0. */
  findLane(tier: number, key: FairnessKey): number {
    const node = this.findNode(tier, typeof key === "string" ? [key] : key);
    return node !== 0 && this.get(node, KIND) === LEVEL ? this.get(node, TOP) : node;
  }

  /** The lane or level of a path if it is there, else 0. */
  findNode(tier: number, path: readonly string[]): number {
    let node = tier;
    for (const part of path) {
      const entry = this.#keys.find(node, part);
      if (entry === 0) return 0;
      node = this.#keys.valueOf(entry);
    }
    return node;
  }

  #lane(parent: number, key: string, path: FairnessKey): number {
    const entry = this.#keys.find(parent, key);
    if (entry === 0) return this.#makeLane(parent, key, path);
    const node = this.#keys.valueOf(entry);
    if (this.nodes.i[node * NODE_INTS + KIND] === LANE) return node;
    return this.get(node, TOP) || this.#ownLane(node);
  }

  #makeLane(parent: number, key: string, path: FairnessKey): number {
    const whole = typeof path === "string" ? [path] : path;
    return this.#make(LANE, parent, this.#keys.intern(parent, key), whole);
  }

  /** The lane for a level's own jobs. */
  #ownLane(level: number): number {
    const lane = this.#make(LANE, level, 0, []);
    this.set(level, TOP, lane);
    return lane;
  }

  #level(parent: number, key: string, path: readonly string[]): number {
    const entry = this.#keys.find(parent, key);
    if (entry === 0) return this.#make(LEVEL, parent, this.#keys.intern(parent, key), path);
    const node = this.#keys.valueOf(entry);
    return this.get(node, KIND) === LEVEL ? node : this.#raise(parent, node, path);
  }

  #make(kind: number, parent: number, entry: number, path: readonly string[]): number {
    const ring = this.get(parent, CHILD);
    const node = this.#rings.nodes.alloc();
    const queue = this.get(parent, QUEUE);
    this.set(node, KIND, kind);
    this.set(node, RING, ring);
    this.set(node, WEIGHT, path.length === 0 ? 1 : this.#owner.weightOf(queue, path));
    this.set(node, KEY, entry);
    this.set(node, QUEUE, queue);
    this.set(node, AT_TIER, this.get(parent, AT_TIER));
    if (kind === LEVEL) this.set(node, CHILD, this.#rings.create(node, true));
    if (entry !== 0) this.#keys.setValue(entry, node);
    if (this.get(parent, KIND) === LEVEL) this.#hold(parent);
    return node;
  }

  /** Makes a level of a key that has been a lane so far; the lane goes below it. */
  #raise(parent: number, lane: number, path: readonly string[]): number {
    const active = this.get(lane, WHERE) !== OUT && this.get(lane, WHERE) !== IDLE;
    if (active) this.#rings.deactivate(lane);
    else if (this.get(lane, WHERE) === IDLE) this.#rings.unlinkIdle(lane);
    const entry = this.get(lane, KEY);
    const level = this.#make(LEVEL, parent, entry, path);
    this.#inherit(level, lane);
    this.set(lane, KEY, 0);
    this.set(lane, RING, this.get(level, CHILD));
    this.set(level, TOP, lane);
    this.#hold(level);
    if (active) this.#rings.activate(lane);
    else if (this.get(lane, REFS) === 0) this.#rings.linkIdle(lane);
    return level;
  }

  /**
   * Gives a level the position of its first lane, whose own position is reset. A turn that has
   * begun counts as used.
   */
  #inherit(level: number, lane: number): void {
    const { f } = this.nodes;
    const at = (node: number): number => node * (NODE_INTS / 2) + ROUND;
    f[at(level)] = f[at(lane)]! + (this.get(lane, REM) === 0 ? 0 : 1);
    f[at(lane)] = 0;
    this.set(lane, REM, 0);
  }

  #hold(level: number): void {
    if (this.get(level, REFS) === 0 && this.get(level, WHERE) === IDLE)
      this.#rings.unlinkIdle(level);
    this.set(level, REFS, this.get(level, REFS) + 1);
  }

  /** A job's weight rules its lane from now on. */
  setWeight(lane: number, weight: number): void {
    this.set(lane, OWN, weight);
    if (this.get(lane, WEIGHT) !== weight) this.#rings.setWeight(lane, weight);
  }

  /** The strand of a lane for a set of gates, made when it is not there. */
  strandOf(lane: number, gates: number): number {
    this.isNew = false;
    const ints = this.nodes.i;
    const first = ints[lane * NODE_INTS + STRANDS]!;
    if (first !== 0 && ints[first * NODE_INTS + GATES] === gates) return first;
    return this.#strands.find(lane, gates) || this.#makeStrand(lane, gates, first);
  }

  /** The strand of a lane for a set of gates if it is there, else 0. */
  findStrand(lane: number, gates: number): number {
    return this.#strands.find(lane, gates);
  }

  #makeStrand(lane: number, gates: number, first: number): number {
    this.isNew = true;
    const strand = this.#rings.nodes.alloc();
    this.set(strand, KIND, STRAND);
    this.set(strand, WEIGHT, this.get(lane, WEIGHT));
    this.set(strand, IN_LANE, lane);
    this.set(strand, GATES, gates);
    this.set(strand, LANE_NEXT, first);
    if (first !== 0) this.set(first, LANE_PREV, strand);
    this.set(lane, STRANDS, strand);
    this.#strands.insert(strand);
    return strand;
  }

  /** One more job, or attached strand, belongs to the strand. */
  use(strand: number): void {
    if (this.nodes.i[strand * NODE_INTS + USERS]!++ === 0) this.#used(strand);
  }

  #used(strand: number): void {
    if (this.get(strand, WHERE) === IDLE) this.#rings.unlinkIdle(strand);
    const lane = this.get(strand, IN_LANE);
    if (this.get(lane, WHERE) === IDLE) this.#rings.unlinkIdle(lane);
    this.set(lane, REFS, this.get(lane, REFS) + 1);
  }

  /**
   * One less. The last strand of a lane stays with it, so that a lane in use is not rebuilt per
   * job.
   */
  unuse(strand: number): void {
    if (--this.nodes.i[strand * NODE_INTS + USERS]! === 0) this.#unused(strand);
  }

  #unused(strand: number): void {
    const lane = this.get(strand, IN_LANE);
    const refs = this.get(lane, REFS) - 1;
    this.set(lane, REFS, refs);
    if (refs !== 0 || this.get(lane, STRANDS) !== strand || this.get(strand, LANE_NEXT) !== 0) {
      if (this.#owner.isForgettable(strand)) this.#freeStrand(strand);
      else this.#rings.linkIdle(strand);
    }
    if (refs !== 0) return;
    this.#rings.linkIdle(lane);
    this.sweep(this.get(lane, RING));
  }

  /**
   * Forgets a few nodes that nothing depends on any more: of this ring, and of the next rows of the
   * table, which reaches rings that no member joins or leaves.
   */
  sweep(ring: number): void {
    for (let i = 0; i < SWEEP; i++) {
      const node = this.#rings.expired(ring);
      if (node === 0) break;
      this.#sweepNode(node);
    }
    this.#sweepRows();
  }

  #sweepRows(): void {
    const { nodes } = this;
    for (let i = 0; i < SWEEP; i++) {
      const node = this.#swept + 1 < nodes.end ? this.#swept + 1 : 1;
      this.#swept = node;
      if (nodes.i[node * NODE_INTS + WHERE] === IDLE) this.#sweepIdle(node);
    }
  }

  #sweepIdle(node: number): void {
    if (this.#rings.isForgettable(node)) this.#sweepNode(node);
  }

  #sweepNode(node: number): void {
    this.#rings.unlinkIdle(node);
    const kind = this.get(node, KIND);
    if (kind === STRAND) this.#freeStrand(node);
    else if (kind === LANE && !this.#canForget(node)) this.#rings.linkIdle(node);
    else this.#forget(node);
  }

  #canForget(lane: number): boolean {
    const strand = this.get(lane, STRANDS);
    if (strand === 0) return true;
    if (!this.#owner.isForgettable(strand)) return false;
    if (this.get(strand, WHERE) === IDLE) this.#rings.unlinkIdle(strand);
    this.#freeStrand(strand);
    return this.get(lane, STRANDS) === 0;
  }

  #freeStrand(strand: number): void {
    this.#owner.strandGone(strand);
    const next = this.get(strand, LANE_NEXT);
    const prev = this.get(strand, LANE_PREV);
    if (next !== 0) this.set(next, LANE_PREV, prev);
    if (prev !== 0) this.set(prev, LANE_NEXT, next);
    else this.set(this.get(strand, IN_LANE), STRANDS, next);
    this.#strands.remove(strand);
    this.#rings.nodes.free(strand);
  }

  /**
   * Frees a lane without jobs, or a level without children, and the levels it leaves without any.
   */
  drop(lane: number): void {
    for (let strand = this.get(lane, STRANDS); strand !== 0; strand = this.get(lane, STRANDS)) {
      if (this.get(strand, WHERE) === IDLE) this.#rings.unlinkIdle(strand);
      this.#freeStrand(strand);
    }
    let node = lane;
    for (;;) {
      const parent = this.#rings.ownerOf(this.get(node, RING));
      if (this.get(node, WHERE) === IDLE) this.#rings.unlinkIdle(node);
      this.#forget(node);
      if (this.get(parent, KIND) !== LEVEL || this.get(parent, REFS) !== 0) return;
      node = parent;
    }
  }

  /** Frees a lane or a level that has no children, and lets its parent go the same way. */
  #forget(node: number): void {
    const ring = this.get(node, RING);
    const parent = this.#rings.ownerOf(ring);
    const entry = this.get(node, KEY);
    if (entry !== 0) this.#keys.remove(entry);
    if (this.get(node, KIND) === LEVEL) this.#rings.drop(this.get(node, CHILD));
    if (this.#readLanes[node & (READ_KEYS - 1)] === node)
      this.#readLanes[node & (READ_KEYS - 1)] = 0;
    this.#rings.nodes.free(node);
    if (this.get(parent, KIND) !== LEVEL) return;
    if (this.get(parent, TOP) === node) this.set(parent, TOP, 0);
    const refs = this.get(parent, REFS) - 1;
    this.set(parent, REFS, refs);
    if (refs === 0) this.#rings.linkIdle(parent);
  }

  /** The key of a lane as it was given: a string, or a path from the top down. */
  keyOf(lane: number): FairnessKey {
    const slot = lane & (READ_KEYS - 1);
    if (this.#readLanes[slot] === lane) return this.#readKeys[slot]!;
    const key = this.#readKey(lane);
    this.#readLanes[slot] = lane;
    this.#readKeys[slot] = key;
    return key;
  }

  #readKey(lane: number): FairnessKey {
    const path: string[] = [];
    let node = lane;
    while (this.get(node, KIND) !== TIER) {
      const entry = this.get(node, KEY);
      if (entry !== 0) path.unshift(this.#keys.keyOf(entry));
      node = this.#rings.ownerOf(this.get(node, RING));
    }
    return path.length === 1 ? path[0]! : path;
  }

  /** Adds a strand to the ready ones of its lane, which takes part in its ring from now on. */
  ready(strand: number): void {
    const lane = this.get(strand, IN_LANE);
    const first = this.get(lane, TOP) === 0;
    this.heap.add(lane, strand);
    if (first) this.#rings.activate(lane);
  }

  unready(strand: number): void {
    const lane = this.get(strand, IN_LANE);
    this.heap.remove(lane, strand);
    if (this.get(lane, TOP) === 0) this.#rings.deactivate(lane);
  }
}
