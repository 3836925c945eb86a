/**
 * Where the configured tiers lie in the queue. A Sluice queue never gets fewer tiers: jobs may wait
 * in them. Where the configuration has fewer than the queue, those beyond it are retired. They are
 * the most urgent ones, so that the last tier stays the last, what waits in a retired tier goes
 * first, and nothing is put or spilled into it.
 */
export class TierPlaces {
  readonly retired: number;

  constructor(configured: number, inQueue: number) {
    this.retired = Math.max(0, inQueue - configured);
  }

  placeOf(tier: number): number {
    return tier + this.retired;
  }

  /** What is left in retired tiers counts for the first. */
  tierAt(place: number): number {
    return Math.max(0, place - this.retired);
  }
}
