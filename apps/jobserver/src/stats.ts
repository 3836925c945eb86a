/** What the server counts: per tier since it started, and depths as they are now. */
import type { Queue } from "sluice";
import type { Config, TierSize } from "./config.ts";
import type { ListStatus, PriorityList } from "./priority-list.ts";
import type { Submission } from "./submission.ts";
import { TierBook, type TierStats } from "./tier-book.ts";

export type TierReport = TierStats & { readonly capacity: number };

/** The five fields that older clients read, and more beside them. */
export type StatsReport = {
  readonly fast_queue_depth: number;
  readonly slow_queue_depth: number;
  readonly fast_processed: number;
  readonly slow_processed: number;
  readonly last_update: string | null;
  readonly enabled: boolean;
  readonly tiers: Readonly<Record<string, TierReport>>;
  readonly priority_list: ListStatus;
} & Readonly<Record<`${string}_queue_depth` | `${string}_processed`, number>>;

interface Parts {
  readonly config: Config;
  readonly queue: Queue<Submission, unknown>;
  readonly list: PriorityList;
}

export class ServerStats {
  readonly books: readonly TierBook[];
  readonly #parts: Parts;
  #sizes: readonly TierSize[];
  #changedAt: number | undefined = undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#sizes = parts.config.tiers;
    this.books = parts.config.tiers.map(({ name }) => new TierBook(name));
    const { queue } = parts;
    queue.on("started", ({ job }) => this.#started(job.id, job.tier));
    queue.on("finished", ({ job }) => this.#ended(job.tier, "succeeded"));
    queue.on("failed", ({ job }) => this.#ended(job.tier, "failed"));
  }

  /** The sizes of the tiers now. */
  get sizes(): readonly TierSize[] {
    return this.#sizes;
  }

  set sizes(sizes: readonly TierSize[]) {
    this.#sizes = sizes;
  }

  /** Who waits from before the start. */
  async recount(): Promise<void> {
    const waiting: { id: string; tier: number; addedAt: number }[] = [];
    for await (const job of this.#parts.queue.jobs({ state: "waiting" })) waiting.push(job);
    waiting.sort((a, b) => a.addedAt - b.addedAt);
    for (const { id, tier, addedAt } of waiting) this.books[tier]?.wait(id, addedAt);
  }

  added(uid: string, wanted: number, tier: number): void {
    const book = this.books[tier]!;
    book.enqueued += 1;
    book.wait(uid, Date.now());
    if (tier !== wanted) this.books[wanted]!.spilled += 1;
    this.#touch();
  }

  rejected(wanted: number): void {
    this.books[wanted]!.rejected += 1;
    this.#touch();
  }

  left(uid: string): void {
    for (const book of this.books) book.leave(uid);
  }

  async depths(): Promise<number[]> {
    const { perTier } = await this.#parts.queue.stats();
    return this.books.map((_, tier) => perTier[tier]?.waiting ?? 0);
  }

  async report(): Promise<StatsReport> {
    const { config, list } = this.#parts;
    const depths = await this.depths();
    const now = Date.now();
    const flat: Record<string, number> = {
      fast_queue_depth: 0,
      slow_queue_depth: 0,
      fast_processed: 0,
      slow_processed: 0,
    };
    const tiers: Record<string, TierReport> = {};
    this.books.forEach((book, tier) => {
      flat[`${book.name}_queue_depth`] = depths[tier]!;
      flat[`${book.name}_processed`] = book.processed;
      tiers[book.name] = { ...book.stats(now), capacity: this.#sizes[tier]!.capacity };
    });
    const last_update =
      this.#changedAt === undefined ? null : new Date(this.#changedAt).toISOString();
    return {
      ...flat,
      last_update,
      enabled: config.isPriorityOn,
      tiers,
      priority_list: list.status,
    } as StatsReport;
  }

  #started(uid: string, tier: number): void {
    // An older job may have moved up since it was added.
    this.left(uid);
    this.books[tier]!.started += 1;
    this.#touch();
  }

  #ended(tier: number, how: "succeeded" | "failed"): void {
    this.books[tier]![how] += 1;
    this.#touch();
  }

  #touch(): void {
    this.#changedAt = Date.now();
  }
}
