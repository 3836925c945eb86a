// The books that the harness keeps about one gate, from the facts alone: what was taken, and
// whether the next job may pass. Written with plain numbers and lists, unlike the engine's.

import type { GateConfig } from "@sluice/engine";

const TOKEN_ERROR = 1e-6;

interface Take {
  readonly at: number;
  readonly cost: number;
}

export class GateBook {
  readonly key: string;
  config: GateConfig | undefined = undefined;
  inFlight = 0;
  cooldownUntil = -Infinity;
  #ladderStep = 0;
  #level = 0;
  #levelAt = 0;
  #takes: Take[] = [];
  // The last start or end, whichever the interval counts from.
  #last = -Infinity;

  constructor(key: string) {
    this.key = key;
  }

  clone(): GateBook {
    const copy = new GateBook(this.key);
    copy.config = this.config;
    copy.inFlight = this.inFlight;
    copy.cooldownUntil = this.cooldownUntil;
    copy.#ladderStep = this.#ladderStep;
    copy.#level = this.#level;
    copy.#levelAt = this.#levelAt;
    copy.#takes = [...this.#takes];
    copy.#last = this.#last;
    return copy;
  }

  // A new part starts full, a changed one keeps its level; one at rest counts as new.
  configure(config: GateConfig | undefined, now: number): void {
    const old = this.config;
    if (config === undefined && old !== undefined) this.clear();
    const burst = burstOf(config);
    const isFull = old?.rate === undefined || this.#levelOn(now) >= burstOf(old) - TOKEN_ERROR;
    this.#level = isFull ? burst : Math.min(this.#levelOn(now), burst);
    this.#levelAt = now;
    // Older takes than the longest window counted are not remembered.
    const countedMs = Math.max(0, ...(old?.windows ?? []).map(({ perMs }) => perMs));
    this.#takes = this.#takes.filter(({ at }) => at > now - countedMs);
    const spacedMs = old?.interval === undefined ? 0 : Math.max(...spacings(old.interval));
    if (config?.interval === undefined || this.#last + spacedMs <= now) this.#last = -Infinity;
    this.#ladderStep = Math.min(this.#ladderStep, config?.ladder?.length ?? 0);
    this.config = config;
  }

  // What forbids a job to pass, if anything does.
  blocks(cost: number, tier: number, now: number): string | undefined {
    if (this.cooldownUntil > now) return "cooldown";
    const { config } = this;
    if (config === undefined) return undefined;
    if (this.inFlight >= (config.concurrency ?? Infinity)) return "concurrency";
    if (config.interval !== undefined) {
      if (config.interval.from === "end" && this.inFlight > 0) return "interval";
      if (this.#last + spacingOf(config.interval, tier) > now) return "interval";
    }
    if (config.rate !== undefined) {
      if (config.rate === 0) return "rate";
      const need = Math.min(cost, burstOf(config));
      if (this.#levelOn(now) < need - TOKEN_ERROR) return "rate";
    }
    for (const { limit, perMs } of config.windows ?? []) {
      const used = this.#used(perMs, now);
      if (used > Math.max(0, limit - cost)) return "window";
    }
    return undefined;
  }

  tokens(now: number): number {
    return this.#levelOn(now);
  }

  // The largest cost that fits the limits.
  get costMax(): number {
    const limits = (this.config?.windows ?? []).map(({ limit }) => limit);
    const burst = this.config?.rate === undefined ? Infinity : burstOf(this.config);
    return Math.min(burst, ...limits);
  }

  take(cost: number, now: number): void {
    this.inFlight++;
    this.#levelTo(now);
    if (this.config?.rate !== undefined) this.#level -= cost;
    if (this.config?.windows !== undefined) this.#takes.push({ at: now, cost });
    if (this.config?.interval?.from === "start") this.#last = now;
  }

  release(now: number): void {
    this.inFlight--;
    if (this.config?.interval?.from === "end") this.#last = now;
  }

  report(ok: boolean, now: number): void {
    const ladder = this.config?.ladder;
    if (ladder === undefined) return;
    if (ok) {
      this.#ladderStep = Math.max(0, this.#ladderStep - 1);
      return;
    }
    this.#ladderStep = Math.min(this.#ladderStep + 1, ladder.length);
    this.cool(now + ladder[this.#ladderStep - 1]!, now);
  }

  cool(until: number, now: number): void {
    if (until > now) this.cooldownUntil = Math.max(this.cooldownUntil, until);
  }

  clear(): void {
    this.cooldownUntil = -Infinity;
    this.#ladderStep = 0;
  }

  #used(perMs: number, now: number): number {
    let used = 0;
    for (let i = this.#takes.length - 1; i >= 0; i--) {
      const { at, cost } = this.#takes[i]!;
      if (at <= now - perMs) break;
      used += cost;
    }
    return used;
  }

  #levelOn(now: number): number {
    const gained = ((now - this.#levelAt) * (this.config?.rate ?? 0)) / 1_000;
    return Math.min(burstOf(this.config), this.#level + gained);
  }

  #levelTo(now: number): void {
    this.#level = this.#levelOn(now);
    this.#levelAt = now;
    this.#dropOldTakes(now);
  }

  #dropOldTakes(now: number): void {
    if (this.#takes.length < 512) return;
    const countedMs = Math.max(0, ...(this.config?.windows ?? []).map(({ perMs }) => perMs));
    this.#takes = this.#takes.filter(({ at }) => at > now - countedMs);
  }
}

function burstOf(config: GateConfig | undefined): number {
  if (config?.rate === undefined) return 0;
  return config.burst ?? Math.max(1, config.rate);
}

type Interval = NonNullable<GateConfig["interval"]>;

function spacings({ ms, factors = [1], floorMs = 0 }: Interval): number[] {
  return factors.map((factor) => Math.max(floorMs, Math.ceil(ms * factor - 1e-6)));
}

function spacingOf(interval: Interval, tier: number): number {
  const all = spacings(interval);
  return all[Math.min(tier, all.length - 1)]!;
}
