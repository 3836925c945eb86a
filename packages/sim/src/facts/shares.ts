// Shares of lanes that have ungated jobs waiting all the while: over any such interval two of
// them get the same, in cost ÷ weight, up to one turn each. Levels of a path and tiers with weights
// are members of rings like lanes, and are held to the same.

import type { JobRecord } from "@sluice/engine";
import { demand } from "../demand.ts";

type SharingJob = Pick<JobRecord, "queue" | "tier" | "path" | "gates" | "cost">;

interface Sharer {
  readonly name: string;
  weight: number;
  // Its weight is known for certain.
  isSure: boolean;
  served: number;
  // Ungated jobs that wait.
  backlog: number;
  costMax: number;
}

interface Pair {
  readonly a: Sharer;
  readonly b: Sharer;
  least: number;
  most: number;
}

class ShareRing {
  readonly members = new Map<string, Sharer>();
  readonly pairs = new Map<string, Pair>();

  member(name: string): Sharer {
    let member = this.members.get(name);
    if (member === undefined) {
      member = { name, weight: 1, isSure: true, served: 0, backlog: 0, costMax: 1 };
      this.members.set(name, member);
    }
    return member;
  }

  // Nothing that was measured with this member counts any more.
  restart(member: Sharer): void {
    for (const [key, { a, b }] of this.pairs) {
      if (a === member || b === member) this.pairs.delete(key);
    }
    if (member.backlog === 0 || !member.isSure) return;
    for (const other of this.members.values()) {
      if (other === member || other.backlog === 0 || !other.isSure) continue;
      const [a, b] = member.name < other.name ? [member, other] : [other, member];
      const lead = a.served - b.served;
      this.pairs.set(`${a.name}\n${b.name}`, { a, b, least: lead, most: lead });
    }
  }

  serve(member: Sharer, cost: number): void {
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
function turn({ costMax, weight }: Sharer): number {
  return 1 + (costMax - 1) / weight;
}

export class Shares {
  readonly #rings = new Map<string, ShareRing>();
  // The largest cost of any job so far, in earlier lives of the broker too.
  #costMax = 1;
  // Weights of tiers by queue; absent where they are strict.
  readonly #tiers = new Map<string, readonly number[]>();

  note(cost: number): void {
    this.#costMax = Math.max(this.#costMax, cost);
  }

  // After a restart lanes are compared from there on: a lead that is remembered is one in rounds
  // only. What they were served before is not known, and may have been a job of the largest cost.
  restart(): void {
    for (const ring of this.#rings.values()) {
      for (const member of ring.members.values()) {
        member.costMax = Math.max(member.costMax, this.#costMax);
        ring.restart(member);
      }
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

  setWeight(
    queue: string,
    tier: number,
    path: readonly string[],
    weight: number,
    isSure: boolean,
  ): void {
    const ring = this.#ring(ringName(queue, tier, path, path.length - 1));
    const member = ring.member(path.at(-1)!);
    if (member.weight === weight && member.isSure === isSure) return;
    member.weight = weight;
    member.isSure = isSure;
    ring.restart(member);
  }

  forget(queue: string): void {
    for (const name of this.#rings.keys()) {
      if (name === queue || name.startsWith(`${queue}\n`)) this.#rings.delete(name);
    }
  }

  enter(job: SharingJob): void {
    if (job.gates.length === 0) this.#count(job, 1);
  }

  leave(job: SharingJob): void {
    if (job.gates.length === 0) this.#count(job, -1);
  }

  serve(job: SharingJob): void {
    for (const [ring, member] of this.#lanes(job)) ring.serve(member, job.cost);
    if (!this.#tiers.has(job.queue)) return;
    const [ring, member] = this.#tier(job);
    ring.serve(member, job.cost);
  }

  // Tiers are counted while they are strict too: their weights may come and go under a job.
  #count(job: SharingJob, by: number): void {
    for (const [ring, member] of [...this.#lanes(job), this.#tier(job)]) {
      member.backlog += by;
      if (member.backlog === 0 || (member.backlog === 1 && by === 1)) ring.restart(member);
    }
  }

  *#lanes({ queue, tier, path }: SharingJob): Generator<[ShareRing, Sharer]> {
    for (let level = 0; level < path.length; level++) {
      const ring = this.#ring(ringName(queue, tier, path, level));
      yield [ring, ring.member(path[level]!)];
    }
  }

  #tier({ queue, tier }: SharingJob): [ShareRing, Sharer] {
    const ring = this.#ring(queue);
    const member = ring.member(String(tier));
    member.weight = this.#tiers.get(queue)?.[tier] ?? 1;
    return [ring, member];
  }

  #ring(name: string): ShareRing {
    let ring = this.#rings.get(name);
    if (ring === undefined) {
      ring = new ShareRing();
      this.#rings.set(name, ring);
    }
    return ring;
  }
}

function ringName(queue: string, tier: number, path: readonly string[], level: number): string {
  return `${queue}\n${tier}\n${path.slice(0, level).join("\n")}`;
}
