import type { QueueState } from "../queues/queue-state.ts";
import type { Lanes } from "../ring/lanes.ts";
import * as nodeFields from "../ring/node-fields.ts";
import type { Rings } from "../ring/ring.ts";
import { PairIndex } from "../tables/pairs.ts";
import type { GateLine } from "./gate-line.ts";

const { AT_TIER, CHILD, ENTRY, STRAND, GATE, IDLE, IN_LANE, KIND, LINK, OUT, QUEUE } = nodeFields;
const { NODE_INTS, REFS, RING, STAND, STAND_LEVEL, STAND_OWNER, TIER, WEIGHT, WHERE } = nodeFields;

/** Tiers a queue can have, as the factor that makes one number of a queue and a tier. */
const TIERS = 64;

/**
 * The places of lanes in the lines of gates: gate → tier → queue (ENTRY) → levels of the path
 * (STAND) → the lane's seat (its strand with that gate alone). A place counts those below it, and
 * goes with the last of them.
 */
export class LineTree {
  readonly #rings: Rings;
  readonly #lanes: Lanes;
  readonly #queues: (QueueState | undefined)[];
  readonly #stands: PairIndex;

  constructor(rings: Rings, lanes: Lanes, queues: (QueueState | undefined)[]) {
    this.#rings = rings;
    this.#lanes = lanes;
    this.#queues = queues;
    this.#stands = new PairIndex(rings.nodes, STAND_OWNER, STAND_LEVEL, LINK);
  }

  /** Sees to it that the seat has its place in the line of its gate. */
  bind(seat: number, gate: GateLine): void {
    const lanes = this.#lanes;
    const lane = lanes.get(seat, IN_LANE);
    this.#rings.setWeight(seat, lanes.get(lane, WEIGHT));
    const ring = lanes.get(seat, RING);
    const above = this.#rings.ownerOf(lanes.get(lane, RING));
    const isPath = lanes.get(above, KIND) !== TIER;
    if (ring !== 0) {
      const isBelowStand = lanes.get(this.#rings.ownerOf(ring), KIND) === STAND;
      const where = lanes.get(seat, WHERE);
      if (isBelowStand === isPath || where !== OUT) return;
      this.unbind(seat);
    }
    const entry = this.#entryOf(gate, lanes.get(lane, QUEUE), lanes.get(lane, AT_TIER));
    this.#attach(seat, isPath ? this.#standOf(entry, above) : entry);
  }

  /** Levels may have been given another weight since their place was made. */
  syncWeights(seat: number): void {
    const nodes = this.#rings.nodes.i;
    let owner = this.#rings.ownerOf(nodes[seat * NODE_INTS + RING]!);
    while (nodes[owner * NODE_INTS + KIND] === STAND) {
      const level = this.#lanes.get(owner, STAND_LEVEL);
      this.#rings.setWeight(owner, this.#lanes.get(level, WEIGHT));
      owner = this.#rings.ownerOf(this.#lanes.get(owner, RING));
    }
  }

  /** Gives up the seat's place. */
  unbind(seat: number): void {
    const ring = this.#lanes.get(seat, RING);
    if (ring === 0) return;
    if (this.#lanes.get(seat, WHERE) === IDLE) this.#rings.unlinkIdle(seat);
    this.#lanes.set(seat, RING, 0);
    this.#release(this.#rings.ownerOf(ring));
  }

  #attach(node: number, owner: number): void {
    this.#lanes.set(node, RING, this.#lanes.get(owner, CHILD));
    this.#lanes.set(owner, REFS, this.#lanes.get(owner, REFS) + 1);
  }

  #release(owner: number): void {
    const refs = this.#lanes.get(owner, REFS) - 1;
    this.#lanes.set(owner, REFS, refs);
    if (refs > 0) return;
    const ring = this.#lanes.get(owner, RING);
    this.#rings.drop(this.#lanes.get(owner, CHILD));
    if (this.#lanes.get(owner, KIND) === STAND) {
      this.#stands.remove(owner);
      this.#rings.nodes.free(owner);
      this.#release(this.#rings.ownerOf(ring));
      return;
    }
    const gate = this.gateAt(this.#lanes.get(owner, GATE));
    const queue = this.#lanes.get(owner, QUEUE);
    gate.entries.delete(queue * TIERS + this.#lanes.get(owner, AT_TIER));
    let stays = false;
    for (const key of gate.entries.keys()) stays ||= Math.floor(key / TIERS) === queue;
    if (!stays) gate.queues--;
    this.#rings.nodes.free(owner);
  }

  /** The gate of a row; set once the gates are there. */
  gateAt: (row: number) => GateLine = () => {
    throw new Error("seats are not wired");
  };

  #entryOf(gate: GateLine, queue: number, tier: number): number {
    const key = queue * TIERS + tier;
    const known = gate.entries.get(key);
    if (known !== undefined) return known;
    while (gate.lines.length <= tier) gate.lines.push(0);
    if (gate.lines[tier] === 0) gate.lines[tier] = this.#rings.create(0, false);
    const entry = this.#rings.nodes.alloc();
    this.#lanes.set(entry, KIND, ENTRY);
    this.#lanes.set(entry, WEIGHT, this.#queues[queue]!.config.weight);
    this.#lanes.set(entry, RING, gate.lines[tier]!);
    this.#lanes.set(entry, GATE, gate.row);
    this.#lanes.set(entry, QUEUE, queue);
    this.#lanes.set(entry, AT_TIER, tier);
    this.#lanes.set(entry, CHILD, this.#rings.create(entry, false));
    let isNew = true;
    for (const other of gate.entries.keys()) isNew &&= Math.floor(other / TIERS) !== queue;
    if (isNew) gate.queues++;
    gate.entries.set(key, entry);
    return entry;
  }

  /** The place of a level in the line below an entry, its upper levels made first. */
  #standOf(entry: number, level: number): number {
    const above = this.#rings.ownerOf(this.#lanes.get(level, RING));
    const owner = this.#lanes.get(above, KIND) === TIER ? entry : this.#standOf(entry, above);
    const known = this.#stands.find(owner, level);
    if (known !== 0) return known;
    const stand = this.#rings.nodes.alloc();
    this.#lanes.set(stand, KIND, STAND);
    this.#lanes.set(stand, WEIGHT, this.#lanes.get(level, WEIGHT));
    this.#lanes.set(stand, STAND_OWNER, owner);
    this.#lanes.set(stand, STAND_LEVEL, level);
    this.#lanes.set(stand, CHILD, this.#rings.create(stand, false));
    this.#stands.insert(stand);
    this.#attach(stand, owner);
    return stand;
  }

  /** Frees the rings of a gate that is forgotten. */
  drop(gate: GateLine): void {
    for (const ring of gate.lines) if (ring !== 0) this.#rings.drop(ring);
    gate.lines.length = 0;
  }

  /** True when nothing would be lost by forgetting the seat. */
  isForgettable(seat: number): boolean {
    const ring = this.#lanes.get(seat, RING);
    if (ring === 0 || this.#lanes.get(seat, KIND) !== STRAND) return true;
    return this.#rings.sizeOf(ring) === 0 || this.#rings.isForgettable(seat);
  }
}
