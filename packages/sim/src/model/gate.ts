// One gate, by arithmetic on the list of everything that ever passed it.
//
// Tokens are counted in whole millionths, so that a rate of a thousandth of a token per second is
// still a whole number per millisecond and nothing is ever rounded.

import type { GateConfig } from "@sluice/engine";

const UNIT = 1_000_000;
const UNITS_PER_MS = UNIT / 1_000;
// An id that no job has.
const NOBODY = 0;

interface Take {
  readonly at: number;
  readonly cost: number;
}

// What keeps a job of this cost and tier out: nothing but time until `at` (never, when Infinity),
// and the release of a permit when `release`. `atLeast` is earlier than `at` where the rules leave
// open whether the last job still counts.
export interface Lack {
  readonly at: number;
  readonly atLeast: number;
  readonly release: boolean;
}

export class ModelGate {
  readonly key: string;
  config: GateConfig | undefined;
  pattern: string | undefined;
  cooldownUntil = 0;
  reason = "";
  step = 0;
  // Whether a job may still wait in its line although the gate is open now.
  mayHaveLine = false;
  // The ids of the leased jobs that name this gate, configured or not.
  readonly holders = new Set<number>();
  #units = 0;
  #unitsAt = 0;
  // The limits changed when the last job's interval had passed in every tier: the gate was at rest
  // and may have forgotten that job.
  #isRested = false;
  // Whether the bucket was full when its limits last changed.
  #wasFull = true;
  #takes: Take[] = [];
  // How many takes were there when a window of this length was first set.
  readonly #takesBefore = new Map<number, number>();
  #lastStart: number | undefined;
  #lastEnd: number | undefined;

  constructor(key: string) {
    this.key = key;
  }

  // Without limits and without cooldown: as if the job had not named it.
  isOpenForAll(now: number): boolean {
    return this.config === undefined && this.cooldownUntil <= now;
  }

  get takes(): readonly Take[] {
    return this.#takes;
  }

  configure(config: GateConfig | undefined, now: number): void {
    const before = this.config;
    if (before !== undefined) this.#refill(now);
    this.#isRested ||= this.#intervalsAt(now) <= now;
    this.config = config;
    if (config === undefined) return this.#forget();
    if (before === undefined) this.#lastEnd = undefined;
    const full = Math.round(burstOf(config) * UNIT);
    this.#wasFull = before?.rate === undefined || this.#units >= Math.round(burstOf(before) * UNIT);
    this.#units = before?.rate === undefined ? full : Math.min(this.#units, full);
    this.#unitsAt = now;
    for (const perMs of [...this.#takesBefore.keys()]) {
      if (!config.windows?.some((window) => window.perMs === perMs))
        this.#takesBefore.delete(perMs);
    }
    for (const { perMs } of config.windows ?? []) {
      if (!this.#takesBefore.has(perMs)) this.#takesBefore.set(perMs, this.#takes.length);
    }
    if (config.interval === undefined) {
      this.#lastStart = undefined;
      this.#lastEnd = undefined;
    }
    if (config.ladder === undefined) this.step = 0;
    else this.step = Math.min(this.step, config.ladder.length);
  }

  // A bucket that is full may be forgotten, and then starts full under its new limits.
  fillWhenItWasFull(): void {
    if (!this.#wasFull || this.config === undefined) return;
    this.#units = Math.round(burstOf(this.config) * UNIT);
  }

  tokens(now: number): number | undefined {
    if (this.config?.rate === undefined) return undefined;
    this.#refill(now);
    return this.#units / UNIT;
  }

  used(perMs: number, now: number): number {
    return this.#inWindow(perMs, now).reduce((sum, take) => sum + take.cost, 0);
  }

  lack(cost: number, tier: number, now: number): Lack {
    const config = this.config;
    let at = Math.max(now, this.cooldownUntil);
    if (config === undefined) return { at, atLeast: at, release: false };
    at = Math.max(at, this.#tokensAt(config, cost, now));
    for (const window of config.windows ?? []) {
      at = Math.max(at, this.#windowAt(window, cost, now));
    }
    const spaced = Math.max(at, this.#intervalAt(config, tier, now));
    const oneAtATime = config.interval?.from === "end" ? 1 : Infinity;
    const room = Math.min(oneAtATime, config.concurrency ?? Infinity);
    const release = this.holders.size >= room;
    return { at: spaced, atLeast: this.#isRested ? at : spaced, release };
  }

  // What would keep it out if another job took so much first, now.
  lackAfter(taken: number, cost: number, tier: number, now: number): Lack {
    const after = new ModelGate(this.key);
    after.config = this.config;
    after.cooldownUntil = this.cooldownUntil;
    for (const id of this.holders) after.holders.add(id);
    after.#units = this.#units;
    after.#unitsAt = this.#unitsAt;
    after.#isRested = this.#isRested;
    after.#takes = [...this.#takes];
    for (const [perMs, count] of this.#takesBefore) after.#takesBefore.set(perMs, count);
    after.#lastStart = this.#lastStart;
    after.#lastEnd = this.#lastEnd;
    after.take(NOBODY, taken, now);
    return after.lack(cost, tier, now);
  }

  // What a job's maxWait is compared with. It is not known while the job runs from whose end the
  // interval counts, so no job fails because of it then.
  patience(cost: number, tier: number, now: number): Lack {
    const lack = this.lack(cost, tier, now);
    const isUnknown = this.config?.interval?.from === "end" && lack.release;
    return isUnknown ? { ...lack, at: now, atLeast: now } : lack;
  }

  passes(cost: number, tier: number, now: number): boolean {
    const { at, release } = this.lack(cost, tier, now);
    return at <= now && !release;
  }

  take(id: number, cost: number, now: number): void {
    this.holders.add(id);
    if (this.config === undefined) return;
    this.#refill(now);
    this.#units -= cost * UNIT;
    this.#takes.push({ at: now, cost });
    this.#lastStart = now;
    if (this.config.interval?.from === "start") this.#isRested = false;
  }

  release(id: number, now: number): void {
    if (!this.holders.delete(id)) return;
    this.#lastEnd = now;
    if (this.config?.interval?.from === "end") this.#isRested = false;
  }

  coolDown(until: number, reason: string): void {
    if (until <= this.cooldownUntil) return;
    this.cooldownUntil = until;
    this.reason = reason;
  }

  clear(): void {
    this.cooldownUntil = 0;
    this.reason = "";
    this.step = 0;
  }

  report(ok: boolean, now: number): void {
    const ladder = this.config?.ladder;
    if (ladder === undefined || ladder.length === 0) return;
    if (ok) {
      this.step = Math.max(0, this.step - 1);
      return;
    }
    const ms = ladder[Math.min(this.step, ladder.length - 1)] ?? 0;
    this.coolDown(now + ms, "ladder");
    this.step = Math.min(this.step + 1, ladder.length);
  }

  #forget(): void {
    this.clear();
    this.#takes = [];
    this.#takesBefore.clear();
    this.#lastStart = undefined;
    this.#lastEnd = undefined;
  }

  #refill(now: number): void {
    const rate = this.config?.rate;
    if (rate !== undefined && this.config !== undefined) {
      const full = Math.round(burstOf(this.config) * UNIT);
      const grown = this.#units + (now - this.#unitsAt) * Math.round(rate * UNITS_PER_MS);
      this.#units = Math.min(full, grown);
    }
    this.#unitsAt = now;
  }

  #tokensAt(config: GateConfig, cost: number, now: number): number {
    if (config.rate === undefined) return now;
    if (config.rate === 0) return Infinity;
    this.#refill(now);
    const missing = Math.min(cost, burstOf(config)) * UNIT - this.#units;
    if (missing <= 0) return now;
    return now + Math.ceil(missing / Math.round(config.rate * UNITS_PER_MS));
  }

  #intervalAt(config: GateConfig, tier: number, now: number): number {
    const interval = config.interval;
    if (interval === undefined) return now;
    const last = interval.from === "start" ? this.#lastStart : this.#lastEnd;
    if (last === undefined) return now;
    const factors = interval.factors ?? [];
    const factor = factors[Math.min(tier, factors.length - 1)] ?? 1;
    return last + Math.max(interval.floorMs ?? 0, Math.ceil(interval.ms * factor));
  }

  // When the interval has passed whatever the tier.
  #intervalsAt(now: number): number {
    const config = this.config;
    if (config?.interval === undefined) return now;
    const tiers = Math.max(1, config.interval.factors?.length ?? 1);
    const all = Array.from({ length: tiers }, (_, tier) => this.#intervalAt(config, tier, now));
    return Math.max(...all);
  }

  // A take at t counts until t + perMs, that moment excluded.
  #inWindow(perMs: number, now: number): Take[] {
    const from = this.#takesBefore.get(perMs) ?? 0;
    return this.#takes.slice(from).filter((take) => take.at + perMs > now);
  }

  #windowAt(window: { limit: number; perMs: number }, cost: number, now: number): number {
    const room = window.limit - Math.min(cost, window.limit);
    const takes = this.#inWindow(window.perMs, now);
    let used = takes.reduce((sum, take) => sum + take.cost, 0);
    let at = now;
    for (const take of takes) {
      if (used <= room) break;
      used -= take.cost;
      at = take.at + window.perMs;
    }
    return at;
  }
}

function burstOf(config: GateConfig): number {
  return config.burst ?? Math.max(1, config.rate ?? 1);
}

// The largest cost the gate's parts allow at enqueue.
export function costMax(config: GateConfig | undefined): number {
  if (config === undefined) return Infinity;
  const limits = (config.windows ?? []).map((window) => window.limit);
  if (config.rate !== undefined) limits.push(burstOf(config));
  return Math.min(Infinity, ...limits);
}
