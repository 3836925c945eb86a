/**
 * The limits of one gate: what has been taken, and when the next job passes.
 *
 * A gate has timed parts, which open by themselves at a time that is known (rate, interval,
 * windows, cooldown), and untimed ones, which open when a leased job ends (concurrency, and the
 * one at a time of an interval that counts from the end). A job passes when both are open. Each
 * part keeps its own books; nothing here waits, the lines of waiting lanes are kept elsewhere.
 *
 * The gate's own times are whole milliseconds: what has happened is rounded up, and a part opens
 * at the first whole millisecond at which it really passes. A job therefore passes at the time
 * that `timedAt` answers, and not 1 ms before it.
 *
 * A part that is newly configured starts full; only leases are counted always, so that a limit on
 * them knows what is running. A part that is changed keeps its level, unless it is at rest (the
 * bucket full, the interval over, the windows empty): then it counts as new. So it never shows
 * whether a gate at rest was forgotten and made again in between, at a time that others choose.
 *
 * A gate may lend permits to other partitions (`lending`). What is out counts as taken and as not
 * yet used, in each part: lending/ledger.ts has the states. In a partition that borrows, the gate
 * has a `stock` of permits, and its own books stand still: a job passes when the stock covers it.
 */
import {
  type LendingSave,
  LOT_GRACE_MS,
  LOT_MS,
  type Lot,
  LotLedger,
  type LotUse,
} from "../lending/ledger.ts";
import type { Stock } from "../lending/stock.ts";
import { TokenBucket, type TokenBucketSave } from "./token-bucket.ts";
import { type TakesSave, Windows } from "./windows.ts";

export interface GateConfig {
  /** Tokens per second; 0 closes the gate. */
  rate?: number | undefined;
  /** Default max(1, rate). */
  burst?: number | undefined;
  interval?:
    | {
        ms: number;
        /** From the previous job's start, or from its end (then one at a time). Default `end`. */
        from: "start" | "end";
        /** Multiplier per tier; a tier beyond the list uses the last. */
        factors?: readonly number[] | undefined;
        /** No tier waits less than this. */
        floorMs?: number | undefined;
      }
    | undefined;
  windows?: readonly { limit: number; perMs: number }[] | undefined;
  concurrency?: number | undefined;
  /** Cooldown per failure in a row, in ms; a success steps back by one. */
  ladder?: readonly number[] | undefined;
}

export type GatePart = "rate" | "interval" | "window" | "concurrency" | "cooldown" | "line";

/** What outlives a restart. Leases are not in it: the count is rebuilt from them. */
export interface GateSave {
  bucket?: TokenBucketSave;
  takes?: TakesSave;
  ladderStep?: number;
  cooldown?: { until: number; reason: string };
  last?: number;
  lending?: LendingSave;
}

export class GateState {
  readonly key: string;
  config: GateConfig | undefined = undefined;
  inFlight = 0;
  /** Rungs climbed; the next failure uses the rung of this index, at most the last. */
  ladderStep = 0;
  cooldownUntil = -Infinity;
  cooldownReason = "";
  /** When the previous job started, or ended, whichever the interval counts from. */
  last = -Infinity;

  bucket: TokenBucket | undefined = undefined;
  windows: Windows | undefined = undefined;
  /** Milliseconds between two jobs, by tier of the later one; the last serves all tiers beyond. */
  spacings: Float64Array | undefined = undefined;
  spacingMax = 0;
  fromEnd = false;
  /** How many may be leased at once: the concurrency, and 1 for an interval from the end. */
  places = Infinity;
  /** When a job of this gate ended last, as far as is known. */
  releasedAt = -Infinity;
  lending: LotLedger | undefined = undefined;
  stock: Stock | undefined = undefined;

  constructor(key: string) {
    this.key = key;
  }

  /** New limits, from now on, at the current level; undefined opens the gate and forgets it. */
  configure(config: GateConfig | undefined, now: number): void {
    if (config === undefined && this.config !== undefined) this.clearCooldown();
    this.config = config;
    this.#configureBucket(config, now);
    this.#configureWindows(config?.windows, now);
    this.#configureInterval(config?.interval, now);
    const concurrency = config?.concurrency ?? Infinity;
    this.places = this.fromEnd ? 1 : concurrency;
    if (this.lending !== undefined) this.#countLent(now);
    this.ladderStep = Math.min(this.ladderStep, config?.ladder?.length ?? 0);
  }

  /** When a job passes: `now`, a later time, or Infinity when that depends on others. */
  opensAt(cost: number, tier: number, now: number): number {
    return this.hasRoom(cost, tier, now) ? this.timedAt(cost, tier, now) : Infinity;
  }

  passes(cost: number, tier: number, now: number): boolean {
    return this.hasRoom(cost, tier, now) && this.timedAt(cost, tier, now) <= now;
  }

  /** Whether the untimed parts are open: places, and what depends on those who borrow or lend. */
  hasRoom(cost: number, tier: number, now: number): boolean {
    if (this.stock !== undefined) return this.#isCovered(this.stock, cost, 1, tier, now);
    if (this.lending !== undefined && !this.#fitsBesideLots(this.lending, cost)) return false;
    return this.inFlight < this.places;
  }

  #isCovered(stock: Stock, cost: number, jobs: number, tier: number, now: number): boolean {
    return this.config === undefined || stock.covers(cost, jobs, this.spacing(tier), now);
  }

  /** Whether a job can pass while all that is lent stays out. */
  #fitsBesideLots(lending: LotLedger, cost: number): boolean {
    if (this.inFlight + lending.places >= this.places) return false;
    if (lending.open === 0) return true;
    if (this.spacings !== undefined) return false;
    return this.bucket?.fits(cost) !== false && this.windows?.fits(cost) !== false;
  }

  /** Jobs that run, and those that borrowers run or may start. */
  get placesTaken(): number {
    return this.inFlight + (this.lending?.places ?? 0);
  }

  /** When the timed parts open: `now`, a later time, or Infinity for a rate of 0. */
  timedAt(cost: number, tier: number, now: number): number {
    let at = now;
    if (this.cooldownUntil > at) at = this.cooldownUntil;
    if (this.stock !== undefined) return at;
    if (this.spacings !== undefined) at = Math.max(at, this.#spacedAt(tier));
    if (this.bucket !== undefined) at = Math.max(at, this.bucket.opensAt(cost, now));
    if (this.windows !== undefined) at = Math.max(at, this.windows.opensAt(cost, now));
    return at;
  }

  /**
   * How long the timed parts would have a job wait. If an interval counts from the end of a job
   * that still runs, the wait is unknown: it is 0 for now, and is judged when that job has ended.
   */
  waitMs(cost: number, tier: number, now: number): number {
    return this.fromEnd && !this.hasRoom(cost, tier, now) ? 0 : this.timedAt(cost, tier, now) - now;
  }

  /** When the timed parts open for a job of cost 1, by tier; the last is for all later tiers. */
  timedAtByTier(now: number): number[] {
    const tiers = this.spacings?.length ?? 1;
    return Array.from({ length: tiers }, (_, tier) => this.timedAt(1, tier, now));
  }

  /** The part that blocks: of the timed ones the last to open, else the untimed one. */
  part(cost: number, tier: number, now: number): GatePart | undefined {
    const at = this.timedAt(cost, tier, now);
    if (at > now) {
      if (this.cooldownUntil === at) return "cooldown";
      if (this.bucket?.opensAt(cost, now) === at) return "rate";
      if (this.windows?.opensAt(cost, now) === at) return "window";
      return "interval";
    }
    if (this.hasRoom(cost, tier, now)) return undefined;
    if (this.placesTaken >= (this.config?.concurrency ?? Infinity)) return "concurrency";
    if (this.stock === undefined && !this.lending?.open) return "interval";
    if (this.bucket !== undefined) return "rate";
    if (this.windows !== undefined) return "window";
    return this.spacings === undefined ? "concurrency" : "interval";
  }

  /**
   * A job is dispatched. It has passed, except in a replay under other limits: then each part goes
   * to its floor and the gate stays shut for as long as its limits say.
   */
  take(cost: number, tier: number, now: number): void {
    this.inFlight++;
    if (this.stock !== undefined) {
      if (this.config !== undefined) this.stock.take(cost, this.spacing(tier), now);
      return;
    }
    if (this.lending !== undefined) this.lending.chargeOwn(cost);
    if (this.spacings !== undefined && !this.fromEnd) this.last = Math.ceil(now);
    if (this.bucket !== undefined) this.bucket.take(cost, now);
    if (this.windows !== undefined) this.windows.take(cost, now);
  }

  /**
   * More was used than was taken, or, below zero, less. What is given back fills the bucket again;
   * a window keeps it, since a later use must not count as an earlier one.
   */
  charge(cost: number, now: number): void {
    if (this.stock !== undefined) return;
    this.bucket?.charge(cost, now);
    if (cost > 0) this.windows?.take(cost, now);
  }

  /** A leased job that was dispatched before the restart: it holds its place and takes nothing. */
  hold(): void {
    this.inFlight++;
  }

  /** A leased job has ended, however it did. */
  release(now: number): void {
    if (this.inFlight > 0) this.inFlight--;
    this.releasedAt = now;
    if (this.stock !== undefined) return this.stock.note();
    if (this.fromEnd) this.last = Math.ceil(now);
  }

  /**
   * Whether a claim of `claimCost` could still pass at `claimAt` if a job took `cost` now. When
   * the claim's time is not known (Infinity), only a place for each of the two is asked for; and no
   * place at all unless one is kept for the claim.
   */
  passesBeside(
    cost: number,
    claimCost: number,
    claimTier: number,
    claimAt: number,
    now: number,
    keepsPlace = true,
  ): boolean {
    if (this.stock !== undefined) {
      const isKept = keepsPlace && (claimAt !== Infinity || this.keepsBoth(cost, claimCost));
      return !isKept || this.#isCovered(this.stock, cost + claimCost, 2, 0, now);
    }
    if (keepsPlace && this.placesTaken + 2 > this.places) return false;
    if (claimAt === Infinity) return true;
    if (this.cooldownUntil > claimAt) return false;
    if (this.spacings !== undefined && Math.ceil(now) + this.spacing(claimTier) > claimAt) {
      return false;
    }
    if (this.bucket?.opensBeside(cost, claimCost, claimAt, now) === false) return false;
    return this.windows?.opensBeside(cost, claimCost, claimAt, now) !== false;
  }

  /**
   * Whether a stock can have a permit for a claim beside that of another job. Of an interval one is
   * borrowed at a time, and no more of a rate or window than fits into it.
   */
  keepsBoth(cost: number, claimCost: number): boolean {
    return this.spacings === undefined && cost + claimCost <= this.costMax();
  }

  /** Takes a lot from the limits. */
  lend(lot: Lot, now: number): void {
    this.lending ??= new LotLedger();
    this.lending.add(lot);
    this.bucket?.lend(lot.cost, now);
    if (this.windows !== undefined) this.windows.lent += lot.cost;
  }

  /** A borrower tells how many jobs it runs, and what became of its lots. */
  hear(borrower: string, held: number, uses: readonly LotUse[], now: number): void {
    this.lending ??= new LotLedger();
    const { lending } = this;
    let isLater = held < (lending.held.get(borrower) ?? 0);
    lending.setHeld(borrower, held);
    for (const use of uses) {
      const lot = lending.lots.get(use.lot);
      if (lot === undefined || lot.borrower !== borrower) continue;
      isLater ||= use.usedJobs > lot.usedJobs;
      this.#use(lending, lot, use, now);
    }
    // At or after the start, or the end, of whichever job it was.
    if (isLater) this.#space(now);
  }

  #use(lending: LotLedger, lot: Lot, { usedCost, usedJobs, isOver }: LotUse, now: number): void {
    const used = Math.max(0, usedCost - lot.usedCost);
    const returned = isOver ? lot.cost - lot.usedCost - used : 0;
    if (!lot.isExpired) this.#repay(returned, used, now);
    if (isOver) return lending.remove(lot);
    const jobs = Math.max(usedJobs, lot.usedJobs);
    lending.change(lot, { usedCost: lot.usedCost + used, usedJobs: jobs });
  }

  #repay(returned: number, used: number, now: number): void {
    this.bucket?.repay(returned, used, now);
    if (this.windows === undefined) return;
    this.windows.lent -= returned + used;
    if (used > 0) this.windows.take(used, now);
  }

  /** A lot can no longer be used: what is not known of it counts as used, at the latest now. */
  expire(lot: Lot, now: number): void {
    this.#repay(0, lot.cost - lot.usedCost, now);
    this.#space(now);
    this.lending!.change(lot, { isExpired: true });
    if (this.places === Infinity || lot.jobs === 0) this.lending!.remove(lot);
  }

  /** A borrower has restarted: it will report what it runs, and knows nothing of its lots. */
  forgetBorrower(borrower: string): void {
    const lending = this.lending!;
    lending.setHeld(borrower, 0);
    lending.setWant(borrower, undefined);
    for (const lot of [...lending.lots.values()]) {
      if (lot.borrower !== borrower) continue;
      if (lot.isExpired) lending.remove(lot);
      else lending.change(lot, { jobs: 0, usedJobs: 0 });
    }
  }

  /** After a restart the clock may be another: every lot has all its time again. */
  renewLots(now: number): void {
    for (const lot of this.lending!.lots.values()) lot.until = now + LOT_MS + LOT_GRACE_MS;
  }

  #space(now: number): void {
    if (this.spacings !== undefined) this.last = Math.ceil(now);
  }

  #countLent(now: number): void {
    const { openCost } = this.lending!;
    this.bucket?.setLent(openCost, now);
    if (this.windows !== undefined) this.windows.lent = openCost;
  }

  /** A job of this gate failed (cool down, one rung up) or succeeded (one rung down). */
  report(ok: boolean, now: number): void {
    const ladder = this.config?.ladder;
    if (ladder === undefined) return;
    if (ok) {
      this.ladderStep = Math.max(0, this.ladderStep - 1);
      return;
    }
    const rung = Math.min(this.ladderStep + 1, ladder.length);
    this.ladderStep = rung;
    this.cool(now + ladder[rung - 1]!, `failure, step ${rung} of ${ladder.length}`, now);
  }

  /** Shut the gate until a time. A cooldown that ends later stays, with its reason. */
  cool(until: number, reason: string, now: number): void {
    if (!(until > now) || until <= this.cooldownUntil) return;
    this.cooldownUntil = Math.ceil(until);
    this.cooldownReason = reason;
  }

  /** An operator ends the cooldown: the ladder also starts again from its first step. */
  clearCooldown(): void {
    this.cooldownUntil = -Infinity;
    this.cooldownReason = "";
    this.ladderStep = 0;
  }

  cooldown(now: number): { until: number; reason: string } | undefined {
    if (this.cooldownUntil <= now) return undefined;
    return { until: this.cooldownUntil, reason: this.cooldownReason };
  }

  /** The largest cost that fits the limits; a job above it is refused at enqueue. */
  costMax(): number {
    const max = this.bucket === undefined ? Infinity : this.bucket.size / 1000;
    return this.windows === undefined ? max : Math.min(max, this.#limitMin());
  }

  tokens(now: number): number | undefined {
    return this.bucket?.tokens(now);
  }

  windowUse(now: number): { limit: number; perMs: number; used: number }[] {
    return this.windows?.use(now) ?? [];
  }

  /** No state worth remembering: a fresh gate with the same limits would answer the same. */
  pristine(now: number): boolean {
    if (this.inFlight > 0 || this.ladderStep > 0 || this.cooldownUntil > now) return false;
    if (!this.#isSpaced(now)) return false;
    if (this.lending?.isEmpty === false || this.stock?.isEmpty === false) return false;
    return this.bucket?.full(now) !== false && this.windows?.empty(now) !== false;
  }

  save(now: number): GateSave {
    const save: GateSave = {};
    const cooldown = this.cooldown(now);
    if (this.bucket !== undefined) save.bucket = this.bucket.save(now);
    if (this.windows !== undefined) save.takes = this.windows.save(now);
    if (this.ladderStep > 0) save.ladderStep = this.ladderStep;
    if (cooldown !== undefined) save.cooldown = cooldown;
    if (!this.#isSpaced(now)) save.last = this.last;
    if (this.lending !== undefined) save.lending = this.lending.save();
    return save;
  }

  /** Go on from a save; the gate is configured first. Only time that has passed refills it. */
  load(save: GateSave, now: number): void {
    this.ladderStep = Math.min(save.ladderStep ?? 0, this.config?.ladder?.length ?? 0);
    this.cooldownUntil = save.cooldown?.until ?? -Infinity;
    this.cooldownReason = save.cooldown?.reason ?? "";
    if (this.spacings !== undefined) this.last = save.last ?? -Infinity;
    if (save.lending !== undefined) {
      this.lending ??= new LotLedger();
      this.lending.load(save.lending);
    }
    if (save.bucket !== undefined) this.bucket?.load(save.bucket, now);
    if (save.takes !== undefined) this.windows?.load(save.takes, now);
    if (this.lending !== undefined) this.#countLent(now);
  }

  #limitMin(): number {
    return Math.min(...this.config!.windows!.map(({ limit }) => limit));
  }

  /** Whether the interval is over for all tiers. */
  #isSpaced(now: number): boolean {
    return this.last + this.spacingMax <= now;
  }

  /** What a job of this tier waits after the one before; 0 without an interval. */
  spacing(tier: number): number {
    const { spacings } = this;
    if (spacings === undefined) return 0;
    return spacings[tier < spacings.length ? tier : spacings.length - 1]!;
  }

  #spacedAt(tier: number): number {
    return this.last + this.spacing(tier);
  }

  #configureBucket(config: GateConfig | undefined, now: number): void {
    if (config?.rate === undefined) {
      this.bucket = undefined;
      return;
    }
    const burst = config.burst ?? Math.max(1, config.rate);
    if (this.bucket === undefined || this.bucket.full(now)) {
      this.bucket = new TokenBucket(config.rate, burst, now);
    } else this.bucket.configure(config.rate, burst, now);
  }

  #configureWindows(windows: GateConfig["windows"], now: number): void {
    if (windows === undefined || windows.length === 0) this.windows = undefined;
    else if (this.windows === undefined) this.windows = new Windows(windows);
    else this.windows.configure(windows, now);
  }

  #configureInterval(interval: GateConfig["interval"], now: number): void {
    if (interval === undefined || this.#isSpaced(now)) this.last = -Infinity;
    this.fromEnd = interval?.from === "end";
    this.spacings = interval === undefined ? undefined : spacingsOf(interval);
    this.spacingMax = this.spacings === undefined ? 0 : Math.max(...this.spacings);
  }
}

/** Whole milliseconds, rounded up but for the binary error of a product such as 1000 × 0.55. */
function spacingsOf(interval: NonNullable<GateConfig["interval"]>): Float64Array {
  const floorMs = interval.floorMs ?? 0;
  const factors = interval.factors ?? [1];
  return Float64Array.from(factors, (factor) =>
    Math.max(floorMs, Math.ceil(interval.ms * factor - 1e-6)),
  );
}
