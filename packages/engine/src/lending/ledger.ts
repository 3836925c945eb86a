/**
 * What a gate has lent to other partitions, and who of them waits for more.
 *
 * A lot is a number of permits that one borrower may use until a time: so much cost, and so many
 * jobs. It is in one of these states:
 *   open      what is not used may be used any time: it is taken from the limits, and is not yet
 *             counted as used in any of them
 *   expired   its borrower cannot use it any more, and has not said what became of it: its cost
 *             counts as used, its places stay taken, because the jobs may be running
 *   over      its borrower has said how much of it was used: the rest is back, the lot is gone
 *
 * A borrower also tells how many jobs of the gate it runs, `held`, in the same word as what became
 * of its lots; so the jobs that it may be running are those and the unused places of its lots.
 */

/** How long a lot may be used, from when it was lent. */
export const LOT_MS = 1000;
/** How much longer the home waits: two clocks do not run at quite the same speed. */
export const LOT_GRACE_MS = 250;

export interface Lot {
  readonly id: number;
  readonly borrower: string;
  readonly cost: number;
  jobs: number;
  usedCost: number;
  usedJobs: number;
  until: number;
  isExpired: boolean;
}

export function newLot(
  id: number,
  borrower: string,
  cost: number,
  jobs: number,
  usableUntil: number,
): Lot {
  const until = usableUntil + LOT_GRACE_MS;
  return { id, borrower, cost, jobs, usedCost: 0, usedJobs: 0, until, isExpired: false };
}

/** A lot as its borrower sees it. */
export interface LentLot {
  readonly gate: string;
  readonly borrower: string;
  readonly lot: number;
  readonly cost: number;
  readonly jobs: number;
  readonly tier: number;
  readonly until: number;
}

/** What a borrower would have: at least one job of `least`, of this tier. */
export interface Want {
  readonly cost: number;
  readonly jobs: number;
  readonly least: number;
  readonly tier: number;
  /** Lanes that wait there: a lane's share is the same wherever it waits. */
  readonly weight: number;
}

/** What a borrower says of a lot. */
export interface LotUse {
  readonly lot: number;
  readonly usedCost: number;
  readonly usedJobs: number;
  /** Nothing of it will be used from now on. */
  readonly isOver: boolean;
}

/**
 * News about a gate between the partitions that share it. A partition that learns of a cooldown
 * sends it to all others. Results that move the ladder go to the gate's home, which has the ladder.
 */
export type GateNews =
  | { readonly gate: string; readonly cooldown: CooldownNews }
  | { readonly gate: string; readonly isCleared: true }
  | { readonly gate: string; readonly isOk: boolean };

export interface CooldownNews {
  readonly ms: number;
  readonly reason: string;
  readonly ladderStep: number;
}

export interface LendingSave {
  lots: Lot[];
  held: [string, number][];
}

interface Waiting extends Want {
  readonly borrower: string;
}

export class LotLedger {
  readonly lots = new Map<number, Lot>();
  readonly held = new Map<string, number>();
  readonly wants = new Map<string, Waiting>();
  /** Places that lots and borrowers' jobs take. */
  places = 0;
  /** Lots that may be used. */
  open = 0;
  /** What may be used of them. */
  openCost = 0;
  /** Cost that each has got, divided by its weight; the gate's own lanes are one of them. */
  readonly #served = new Map<string, number>();
  #own = 0;
  #ownWeight = 1;
  #isOwnWaiting = false;

  get isEmpty(): boolean {
    return this.lots.size === 0 && this.held.size === 0 && this.wants.size === 0;
  }

  /** A want replaces the previous one. A borrower that had none starts where the others are. */
  setWant(borrower: string, want: Want | undefined): void {
    if (want === undefined) {
      this.wants.delete(borrower);
      return;
    }
    if (!this.wants.has(borrower)) this.#served.set(borrower, this.#start(borrower, want));
    this.wants.set(borrower, { ...want, borrower });
  }

  /** Between two lots a borrower is away for as long as a message takes: that costs no turn. */
  #start(borrower: string, { cost, weight }: Want): number {
    const served = this.#served.get(borrower) ?? 0;
    return Math.max(served, this.#leastServed() - cost / weight);
  }

  #leastServed(): number {
    let least = this.#isOwnWaiting ? this.#own : Number.POSITIVE_INFINITY;
    for (const borrower of this.wants.keys()) least = Math.min(least, this.#servedTo(borrower));
    return least === Number.POSITIVE_INFINITY ? this.#own : least;
  }

  #servedTo(borrower: string): number {
    return this.#served.get(borrower)!;
  }

  /**
   * The borrower whose turn it is; undefined: it is that of the gate's own lanes, the first of
   * which has this tier (Infinity: none waits).
   */
  next(ownTier: number, ownWeight: number): Waiting | undefined {
    const isWaiting = ownTier !== Number.POSITIVE_INFINITY;
    if (isWaiting && !this.#isOwnWaiting) this.#own = Math.max(this.#own, this.#leastServed());
    this.#isOwnWaiting = isWaiting;
    this.#ownWeight = Math.max(1, ownWeight);
    let best: Waiting | undefined;
    for (const want of this.wants.values()) {
      if (best === undefined || want.tier < best.tier) best = want;
      else if (want.tier === best.tier && this.#isBefore(want, best)) best = want;
    }
    if (best === undefined || ownTier < best.tier) return undefined;
    return ownTier === best.tier && this.#own <= this.#servedTo(best.borrower) ? undefined : best;
  }

  #isBefore(one: Waiting, other: Waiting): boolean {
    return this.#servedTo(one.borrower) < this.#servedTo(other.borrower);
  }

  /** A lane of the gate's own partition has taken a permit. */
  chargeOwn(cost: number): void {
    this.#own += cost / this.#ownWeight;
  }

  /** The want has its lot. */
  serve({ borrower, weight }: Waiting, cost: number): void {
    this.wants.delete(borrower);
    this.#served.set(borrower, this.#servedTo(borrower) + cost / weight);
  }

  add(lot: Lot): void {
    this.lots.set(lot.id, lot);
    this.#count(lot, 1);
  }

  remove(lot: Lot): void {
    this.lots.delete(lot.id);
    this.#count(lot, -1);
  }

  /** Changes a lot, and the sums with it. */
  change(lot: Lot, change: Partial<Lot>): void {
    this.#count(lot, -1);
    Object.assign(lot, change);
    this.#count(lot, 1);
  }

  #count(lot: Lot, sign: number): void {
    this.places += sign * (lot.jobs - lot.usedJobs);
    if (lot.isExpired) return;
    this.open += sign;
    this.openCost += sign * (lot.cost - lot.usedCost);
  }

  setHeld(borrower: string, jobs: number): void {
    this.places += jobs - (this.held.get(borrower) ?? 0);
    if (jobs === 0) this.held.delete(borrower);
    else this.held.set(borrower, jobs);
  }

  /** When the next lot expires. */
  expiresAt(): number {
    let at = Number.POSITIVE_INFINITY;
    if (this.open === 0) return at;
    for (const lot of this.lots.values()) if (!lot.isExpired) at = Math.min(at, lot.until);
    return at;
  }

  save(): LendingSave {
    return { lots: [...this.lots.values()].map((lot) => ({ ...lot })), held: [...this.held] };
  }

  load({ lots, held }: LendingSave): void {
    for (const lot of [...this.lots.values()]) this.remove(lot);
    for (const borrower of [...this.held.keys()]) this.setHeld(borrower, 0);
    for (const lot of lots) this.add({ ...lot });
    for (const [borrower, jobs] of held) this.setHeld(borrower, jobs);
  }
}
