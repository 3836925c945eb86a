// Shares of lanes that have ungated jobs waiting all the while: over any such interval two of
// them get the same, in cost ÷ weight, up to one turn each. Levels of a path and tiers with weights
// are members of rings like lanes, and are held to the same.

import { demand } from "../model/broken.ts";
import type { LedgerJob } from "./ledger-job.ts";

interface Member {
  readonly name: string;
  weight: number;
  served: number;
  // Ungated jobs that wait.
  backlog: number;
  costMax: number;
}

interface Pair {
  readonly a: Member;
  readonly b: Member;
  least: number;
  most: number;
}

class Ring {
  readonly members = new Map<string, Member>();
  readonly pairs = new Map<string, Pair>();

  member(name: string): Member {
    let member = this.members.get(name);
    if (member === undefined) {
      member = { name, weight: 1, served: 0, backlog: 0, costMax: 1 };
      this.members.set(name, member);
    }
    return member;
  }

  // Nothing that was measured with this member counts any more.
  restart(member: Member): void {
    for (const [key, { a, b }] of this.pairs) {
      if (a === member || b === member) this.pairs.delete(key);
    }
    if (member.backlog === 0) return;
    for (const other of this.members.values()) {
      if (other === member || other.backlog === 0) continue;
      const [a, b] = member.name < other.name ? [member, other] : [other, member];
      const lead = a.served - b.served;
      this.pairs.set(`${a.name}\n${b.name}`, { a, b, least: lead, most: lead });
    }
  }

  serve(member: Member, cost: number): void {
    member.served += cost / member.weight;
    member.costMax = Math.max(member.costMax, cost);
    for (const pair of this.pairs.values()) {
      const { a, b } = pair;
      if (a !== member && b !== member) continue;
      const lead = a.served - b.served;
      pair.least = Math.min(pair.least, lead);
      pair.most = Math.max(pair.most, lead);
      const bound = turn(a) + turn(b) + 1e-9;
      demand(pair.most - pair.least <= bound, "fair shares", () => {
        const apart = (pair.most - pair.least).toFixed(2);
        return `${a.name} and ${b.name} waited all the while and are ${apart} turns apart`;
      });
    }
  }
}

// A round ends for a member with the job that reaches its end, and that job may cost more than is
// left.
function turn({ costMax, weight }: Member): number {
  return 1 + (costMax - 1) / weight;
}

export class Shares {
  readonly #rings = new Map<string, Ring>();
  // Weights of tiers by queue; absent where they are strict.
  readonly #tiers = new Map<string, readonly number[]>();

  clone(): Shares {
    const copy = new Shares();
    for (const [queue, order] of this.#tiers) copy.#tiers.set(queue, order);
    for (const [name, ring] of this.#rings) {
      const made = new Ring();
      for (const member of ring.members.values()) {
        made.members.set(member.name, { ...member, served: 0, backlog: 0 });
      }
      copy.#rings.set(name, made);
    }
    return copy;
  }

  // After a restart lanes are compared from there on: a lead that is remembered is one in rounds
  // only.
  restart(): void {
    for (const ring of this.#rings.values()) {
      for (const member of ring.members.values()) ring.restart(member);
    }
  }

  setTiers(queue: string, order: "strict" | readonly number[]): void {
    const old = this.#tiers.get(queue);
    if (order === "strict") this.#tiers.delete(queue);
    else this.#tiers.set(queue, order);
    if (JSON.stringify(old ?? "strict") === JSON.stringify(order)) return;
    const ring = this.#ring(queue);
    for (const member of ring.members.values()) {
      if (order !== "strict") member.weight = order[Number(member.name)] ?? 1;
      ring.restart(member);
    }
  }

  setWeight(queue: string, tier: number, path: readonly string[], weight: number): void {
    const ring = this.#ring(ringName(queue, tier, path, path.length - 1));
    const member = ring.member(path.at(-1)!);
    if (member.weight === weight) return;
    member.weight = weight;
    ring.restart(member);
  }

  weightOf({ queue, tier, path }: LedgerJob): number {
    const ring = this.#ring(ringName(queue, tier, path, path.length - 1));
    return ring.member(path.at(-1)!).weight;
  }

  // What a lane of another tier has, one that a job moves to gets too.
  copyWeight(job: LedgerJob, toTier: number): void {
    this.setWeight(job.queue, toTier, job.path, this.weightOf(job));
  }

  forget(queue: string): void {
    for (const name of this.#rings.keys()) {
      if (name === queue || name.startsWith(`${queue}\n`)) this.#rings.delete(name);
    }
  }

  enter(job: LedgerJob): void {
    if (job.gates.length === 0) this.#count(job, 1);
  }

  leave(job: LedgerJob): void {
    if (job.gates.length === 0) this.#count(job, -1);
  }

  serve(job: LedgerJob): void {
    for (const [ring, member] of this.#places(job)) ring.serve(member, job.cost);
  }

  #count(job: LedgerJob, by: number): void {
    for (const [ring, member] of this.#places(job)) {
      member.backlog += by;
      if (member.backlog === 0 || (member.backlog === 1 && by === 1)) ring.restart(member);
    }
  }

  *#places({ queue, tier, path }: LedgerJob): Generator<[Ring, Member]> {
    for (let level = 0; level < path.length; level++) {
      const ring = this.#ring(ringName(queue, tier, path, level));
      yield [ring, ring.member(path[level]!)];
    }
    const order = this.#tiers.get(queue);
    if (order === undefined) return;
    const ring = this.#ring(queue);
    const member = ring.member(String(tier));
    member.weight = order[tier] ?? 1;
    yield [ring, member];
  }

  #ring(name: string): Ring {
    let ring = this.#rings.get(name);
    if (ring === undefined) {
      ring = new Ring();
      this.#rings.set(name, ring);
    }
    return ring;
  }
}

function ringName(queue: string, tier: number, path: readonly string[], level: number): string {
  return `${queue}\n${tier}\n${path.slice(0, level).join("\n")}`;
}
