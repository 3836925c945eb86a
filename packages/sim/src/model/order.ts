// The order in which one queue hands out its jobs when no gate is in the way: tier, then lane,
// level by level, then the oldest job. Every level is a reference ring.

import type { QueueConfig } from "@sluice/engine";
import type { ModelJob } from "./job.ts";
import { type Member, Ring, reweigh } from "./ring.ts";

class Level implements Member {
  weight: number;
  round = 0;
  rest = 0;
  era = -1;
  readonly ring = new Ring<Level>();
  readonly children = new Map<string, Level>();
  readonly jobs = new Set<ModelJob>();

  constructor(weight: number) {
    this.weight = weight;
  }

  get isActive(): boolean {
    return this.jobs.size > 0 || !this.ring.isEmpty;
  }
}

export class QueueOrder {
  readonly #tiers: Level[];
  readonly #isStrict: boolean;
  readonly #ring = new Ring<Level>();
  readonly #config: QueueConfig;
  // Weights set by hand, by lane.
  readonly #weights = new Map<string, number>();

  constructor(config: QueueConfig) {
    const order = config.tierOrder;
    this.#config = config;
    this.#isStrict = order === "strict";
    this.#tiers = config.tiers.map((_, tier) => new Level(order === "strict" ? 1 : order[tier]!));
  }

  enter(job: ModelJob): void {
    const levels = this.#levels(job);
    const lane = levels.at(-1)!;
    const weight = job.weight;
    if (weight !== undefined && weight !== lane.weight) reweigh(lane, weight);
    const wereActive = levels.map((level) => level.isActive);
    lane.jobs.add(job);
    for (let depth = levels.length - 1; depth >= 0; depth--) {
      if (!wereActive[depth]) this.#ringAbove(levels, depth)?.activate(levels[depth]!);
    }
  }

  leave(job: ModelJob): void {
    const levels = this.#levels(job);
    if (!levels.at(-1)!.jobs.delete(job)) return;
    for (let depth = levels.length - 1; depth >= 0; depth--) {
      if (levels[depth]!.isActive) break;
      this.#ringAbove(levels, depth)?.deactivate(levels[depth]!);
    }
  }

  // The job has been dispatched: its cost is charged at every level.
  serve(job: ModelJob): void {
    const levels = this.#levels(job);
    levels.at(-1)!.jobs.delete(job);
    for (let depth = levels.length - 1; depth >= 0; depth--) {
      const level = levels[depth]!;
      this.#ringAbove(levels, depth)?.serve(level, job.cost, level.isActive);
    }
  }

  next(): ModelJob | undefined {
    let level = this.#isStrict ? this.#tiers.find((tier) => tier.isActive) : this.#ring.next();
    while (level !== undefined && level.jobs.size === 0) level = level.ring.next();
    if (level === undefined) return undefined;
    return [...level.jobs].reduce((oldest, job) => (job.age < oldest.age ? job : oldest));
  }

  setWeight(path: readonly string[], weight: number): void {
    this.#weights.set(JSON.stringify(path), weight);
    for (const tier of this.#tiers) {
      const lane = path.reduce<Level | undefined>((at, name) => at?.children.get(name), tier);
      if (lane !== undefined) reweigh(lane, weight);
    }
  }

  // The tier, then every level of the path down to the lane.
  #levels(job: ModelJob): Level[] {
    const path = this.#config.fairness ? job.path : [""];
    const levels = [this.#tiers[job.tier]!];
    path.forEach((name, depth) => {
      const parent = levels.at(-1)!;
      let level = parent.children.get(name);
      if (level === undefined) {
        level = new Level(this.#weightOf(path.slice(0, depth + 1)));
        parent.children.set(name, level);
      }
      levels.push(level);
    });
    return levels;
  }

  #ringAbove(levels: readonly Level[], depth: number): Ring<Level> | undefined {
    if (depth > 0) return levels[depth - 1]!.ring;
    return this.#isStrict ? undefined : this.#ring;
  }

  #weightOf(path: readonly string[]): number {
    const byHand = this.#weights.get(JSON.stringify(path));
    return byHand ?? weightByRule(this.#config.weights, path.join("/"));
  }
}

function weightByRule(weights: Readonly<Record<string, number>>, key: string): number {
  const exact = weights[key];
  if (exact !== undefined) return exact;
  const patterns = Object.keys(weights).filter(
    (name) => name.endsWith("*") && key.startsWith(name.slice(0, -1)),
  );
  patterns.sort((a, b) => b.length - a.length);
  return weights[patterns[0] ?? ""] ?? 1;
}
