/** What the server counts: per tier since it started, and depths as they are now. */
import { type Queue, SystemClock } from "sluice";
import type { Config, TierSize } from "./config.ts";
import type { ListStatus, PriorityList } from "./priority-list.ts";
import type { Submission } from "./submission.ts";
import { TierCounts, type TierStats, type WaitingJob } from "./tier-counts.ts";
import type { TierPlaces } from "./tier-places.ts";

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

/** The tier that a job was meant for, and the one that took it. */
interface Admitted {
  readonly wanted: number;
  readonly tier: number;
}

interface Parts {
  readonly config: Config;
  readonly queue: Queue<Submission, unknown>;
  readonly list: PriorityList;
  readonly places: TierPlaces;
}

export class ServerStats {
  readonly books: readonly TierCounts[];
  readonly #parts: Parts;
  #sizes: readonly TierSize[];
  readonly #clock = new SystemClock();
  #changedAt: number | undefined = undefined;
  /** Submissions that are not answered yet, and jobs that began meanwhile: some may be theirs. */
  #submitting = 0;
  readonly #early = new Set<string>();

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#sizes = parts.config.tiers;
    this.books = parts.config.tiers.map(({ name }) => new TierCounts(name));
    const { queue } = parts;
    const bookOf = (place: number): TierCounts => this.books[parts.places.tierAt(place)]!;
    queue.on("started", ({ job }) => this.#started(job.id, bookOf(job.tier)));
    queue.on("finished", ({ job }) => this.#ended(bookOf(job.tier), "succeeded"));
    queue.on("failed", ({ job }) => this.#ended(bookOf(job.tier), "failed"));
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
    const { queue, places } = this.#parts;
    const waiting: (WaitingJob & { tier: number })[] = [];
    for await (const { id, tier, addedAt, payload } of queue.jobs({ state: "waiting" })) {
      const submitter = payload.workerId ?? "";
      waiting.push({ uid: id, submitter, addedAt, tier: places.tierAt(tier) });
    }
    waiting.sort((a, b) => a.addedAt - b.addedAt);
    for (const { tier, ...job } of waiting) this.books[tier]!.wait(job);
  }

  /** A submission is on its way: a worker may begin with its job before it is answered. */
  submitting(): void {
    this.#submitting += 1;
  }

  submitted(): void {
    this.#submitting -= 1;
    if (this.#submitting === 0) this.#early.clear();
  }

  /** Answers the job's position among those of its submitter. */
  added(uid: string, submitter: string, { wanted, tier }: Admitted): number {
    const book = this.books[tier]!;
    book.enqueued += 1;
    if (tier !== wanted) this.books[wanted]!.spilled += 1;
    this.#touch();
    const position = book.waitingOf(submitter) + 1;
    if (!this.#early.delete(uid)) book.wait({ uid, submitter, addedAt: this.now() });
    return position;
  }

  isWaiting(uid: string, tier: number): boolean {
    return this.books[tier]!.has(uid);
  }

  rejected(wanted: number): void {
    this.books[wanted]!.rejected += 1;
    this.#touch();
  }

  /** The job waits no more; false when it was not known to. */
  left(uid: string): boolean {
    return this.books.some((book) => book.leave(uid));
  }

  async depths(): Promise<number[]> {
    const { perTier } = await this.#parts.queue.stats();
    const depths = this.books.map(() => 0);
    perTier.forEach(({ waiting }, place) => {
      depths[this.#parts.places.tierAt(place)]! += waiting;
    });
    return depths;
  }

  async report(): Promise<StatsReport> {
    const { config, list } = this.#parts;
    const depths = await this.depths();
    const now = this.now();
    const flat: Record<string, number> = {
      fast_queue_depth: 0,
      slow_queue_depth: 0,
      fast_processed: 0,
      slow_processed: 0,
    };
    const tiers = this.books.map((book, tier): [string, TierReport] => {
      flat[`${book.name}_queue_depth`] = depths[tier]!;
      flat[`${book.name}_processed`] = book.processed;
      return [book.name, { ...book.stats(now), capacity: this.#sizes[tier]!.capacity }];
    });
    const last_update =
      this.#changedAt === undefined ? null : new Date(this.#changedAt).toISOString();
    return {
      ...flat,
      last_update,
      enabled: config.isPriorityOn,
      tiers: Object.fromEntries(tiers),
      priority_list: list.status,
    } as StatsReport;
  }

  #started(uid: string, book: TierCounts): void {
    if (!this.left(uid) && this.#submitting > 0) this.#early.add(uid);
    book.started += 1;
    this.#touch();
  }

  #ended(book: TierCounts, how: "succeeded" | "failed"): void {
    book[how] += 1;
    this.#touch();
  }

  now(): number {
    return this.#clock.now();
  }

  #touch(): void {
    this.#changedAt = this.now();
  }
}
