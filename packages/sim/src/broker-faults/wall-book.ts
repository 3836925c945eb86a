// What the clock on the wall said when: `runAt` and `deadline` go by it, and it may step.

export class WallBook {
  // Each holds until the next.
  readonly #steps: { from: number; aheadMs: number }[] = [];
  // Walls by which what was there until then may have fallen due.
  readonly #unseen: { wallAt: number; until: number }[] = [];

  // From now on the wall clock is `aheadMs` ahead of the broker's time.
  note(at: number, aheadMs: number): void {
    if (this.#steps.at(-1)?.aheadMs === aheadMs) return;
    this.#steps.push({ from: this.#steps.length === 0 ? 0 : at, aheadMs });
  }

  noteUnseen(wallAt: number, until: number): void {
    this.#unseen.push({ wallAt, until });
  }

  // The first time, of the broker, from `since` on, at which the wall showed this time or a later
  // one; as far as the steps are known.
  firstAt(wallAt: number, since: number): number {
    if (this.#unseen.some((life) => life.wallAt >= wallAt && life.until >= since)) return since;
    for (const [index, { from, aheadMs }] of this.#steps.entries()) {
      const until = this.#steps[index + 1]?.from ?? Number.POSITIVE_INFINITY;
      const at = Math.max(from, since, wallAt - aheadMs);
      if (at <= until) return at;
    }
    return since;
  }
}
