import { CHILD, KIND, LANE, TIER, WEIGHT } from "../ring/node-fields.ts";
import { Rings } from "../ring/ring.ts";

/** A ring under test, its members known by letters. */
export class RingWorld {
  readonly rings = new Rings();
  readonly names = new Map<number, string>();
  readonly ring: number;

  constructor(newcomersFirst = true) {
    this.ring = this.rings.create(0, newcomersFirst);
  }

  set(node: number, field: number, value: number): void {
    this.rings.nodes.i[node * this.rings.nodes.ints + field] = value;
  }

  member(name: string, weight = 1, ring = this.ring): number {
    const node = this.rings.nodes.alloc();
    this.set(node, KIND, LANE);
    this.set(node, WEIGHT, weight);
    this.rings.place(node, ring);
    this.names.set(node, name);
    return node;
  }

  active(name: string, weight = 1): number {
    const node = this.member(name, weight);
    this.rings.activate(node);
    return node;
  }

  /** A member that owns a ring of its own. */
  owner(name: string, newcomersFirst = true): { node: number; ring: number } {
    const node = this.member(name);
    const ring = this.rings.create(node, newcomersFirst);
    this.set(node, KIND, TIER);
    this.set(node, CHILD, ring);
    return { node, ring };
  }

  /** Serves so many jobs; answers who got them. */
  serve(count: number, cost = 1): string {
    let order = "";
    for (let i = 0; i < count; i++) {
      const node = this.rings.leaf(this.ring);
      if (node === 0) break;
      this.rings.charge(node, cost);
      order += this.names.get(node);
    }
    return order;
  }
}
