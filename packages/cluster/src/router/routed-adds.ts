/** Adds jobs: each to the partition of its fairness key, all of one call at the same time. */
import {
  type Added,
  type AddOptions,
  type Broker,
  checkSignal,
  groupsOf,
  isKnownAdd,
  isOtherCall,
  type NewJob,
  type Outcome,
} from "@sluice/protocol";
import type { FlowLinks } from "../flows/flow-links.ts";
import { hashOf } from "../hash.ts";
import { AddPlacements } from "./add-placements.ts";
import { callShares, type Share, type Shares, sharesOf } from "./batch.ts";
import type { CallerGroups } from "./caller-groups.ts";
import type { PartitionCalls } from "./partition-calls.ts";
import type { QueueCopies } from "./queue-copies.ts";

export class RoutedAdds {
  readonly #calls: PartitionCalls;
  readonly #copies: QueueCopies;
  readonly #held: CallerGroups;
  readonly #links: FlowLinks;
  readonly #placements: AddPlacements;

  constructor(calls: PartitionCalls, copies: QueueCopies, held: CallerGroups, links: FlowLinks) {
    this.#calls = calls;
    this.#copies = copies;
    this.#held = held;
    this.#links = links;
    this.#placements = new AddPlacements(calls);
  }

  async add(
    queue: string,
    jobs: readonly NewJob[],
    options: AddOptions & { operationId: string },
    isNamed: boolean,
  ): Promise<Outcome<Added>[]> {
    const { signal, operationId } = options;
    checkSignal(signal);
    const placement = isNamed
      ? await this.#placementOf(queue, jobs, options)
      : this.#calls.directory.addsTo(queue);
    const shares = await this.#sharesIn(placement, jobs, operationId);
    const [first] = shares.shares;
    if (shares.shares.length <= 1 && shares.refused.size === 0) {
      const own = first ?? { partition: placement[0]!, items: jobs };
      return this.#addTo(queue, own.partition, own.items, options);
    }
    const held = sharedGroups(queue, shares);
    const outcomes = await this.#addShares(queue, shares, options, held);
    if (outcomes.some(({ error }) => error?.code === "ABORTED")) checkSignal(signal);
    return outcomes;
  }

  /** An add of no jobs asks whether its id is known; any of the queue's partitions may know it. */
  async ask(queue: string, options: AddOptions): Promise<Outcome<Added>[]> {
    const asked = this.#calls.directory.placementOf(queue);
    const answers = await Promise.allSettled(
      asked.map((one) => this.#addTo(queue, one, [], options)),
    );
    const errors = answers.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
    const known = errors.find((error) => isOtherCall(error) && error.details.newest === undefined);
    if (errors.length > 0) throw known ?? errors[0];
    return [];
  }

  /** Where the call belongs now; one that is repeated, where it was made the first time. */
  async #placementOf(
    queue: string,
    jobs: readonly NewJob[],
    options: AddOptions & { operationId: string },
  ): Promise<readonly number[]> {
    const { operationId } = options;
    const now = this.#calls.directory.addsTo(queue);
    const before = this.#placements.before(queue, operationId);
    if (before.length === 0) return now;
    const asked = this.#calls.directory.placementOf(queue);
    const answers = await Promise.all(
      asked.map((one) => this.#calls.ask(one, (port) => isKnownAdd(port, queue, operationId))),
    );
    const known = asked.filter((_, i) => answers[i]);
    if (known.length === 0) return now;
    // The first call may still be under way, and known in some of its partitions only.
    for (const placement of [now, ...before]) {
      if (await this.#fits(queue, jobs, options, { placement, known })) return placement;
    }
    return now;
  }

  /** Whether each partition that knows the call knows it as it would be made in this placement. */
  async #fits(
    queue: string,
    jobs: readonly NewJob[],
    options: AddOptions & { operationId: string },
    { placement, known }: { placement: readonly number[]; known: readonly number[] },
  ): Promise<boolean> {
    try {
      const { shares } = await this.#sharesIn(placement, jobs, options.operationId);
      for (const partition of known) {
        const share = shares.find((one) => one.partition === partition);
        if (share === undefined) return false;
        await this.#addTo(queue, partition, share.items, options);
      }
      return true;
    } catch (error) {
      if (isOtherCall(error)) return false;
      throw error;
    }
  }

  async #sharesIn(
    placement: readonly number[],
    jobs: readonly NewJob[],
    operationId: string,
  ): Promise<Shares<NewJob>> {
    const partitionOf = (job: NewJob): number => placement[slotOf(job, placement.length)]!;
    if (!waitForOthers(jobs)) return sharesOf(jobs, partitionOf);
    const own = await this.#links.localised(jobs, partitionOf, operationId);
    return sharesOf(own.jobs, (job, i) => own.refused.get(i) ?? partitionOf(job));
  }

  /** Whether a job of them waits for one of another partition. */
  isOverPartitions(queue: string, jobs: readonly NewJob[]): boolean {
    if (!waitForOthers(jobs)) return false;
    const placement = this.#calls.directory.addsTo(queue);
    return jobs.some((job) => {
      const own = placement[slotOf(job, placement.length)]!;
      return waitsElsewhere(this.#links, own, job);
    });
  }

  /**
   * A group whose members are added to several partitions must not end in one of them before the
   * others have theirs: it is held until all are answered.
   */
  async #addShares(
    queue: string,
    shares: Shares<NewJob>,
    options: AddOptions,
    groups: readonly string[],
  ): Promise<Outcome<Added>[]> {
    const isHeld = options.holdGroups === true;
    if (isHeld)
      this.#held.hold(
        groupsOf(
          queue,
          shares.shares.flatMap(({ items }) => items),
        ),
      );
    const holdGroups = isHeld || groups.length > 0;
    try {
      return await callShares(shares, ({ partition, items }) =>
        this.#addTo(queue, partition, items, { ...options, holdGroups }),
      );
    } finally {
      if (!isHeld && groups.length > 0) await this.#release(queue, shares.shares);
    }
  }

  /** All that the call has held, except for what a caller holds by another call. */
  async #release(queue: string, shares: readonly Share<NewJob>[]): Promise<void> {
    await Promise.all(
      shares.map(async ({ partition, items }) => {
        const names = [...groupsOf(queue, items)].filter((name) => !this.#held.has(name));
        // What cannot be said is released by the partition itself, after a while.
        if (names.length > 0) {
          await this.#calls.ask(partition, (port) => port.releaseGroups(names)).catch(() => {});
        }
      }),
    );
  }

  #addTo(
    queue: string,
    partition: number,
    jobs: readonly NewJob[],
    options: AddOptions,
  ): Promise<Outcome<Added>[]> {
    const add = (port: Broker): Promise<Outcome<Added>[]> => port.add(queue, jobs, options);
    return this.#copies.made(queue, partition, add);
  }
}

function waitForOthers(jobs: readonly NewJob[]): boolean {
  return Array.isArray(jobs) && jobs.some((job) => job?.after !== undefined);
}

/** Whether a job of a partition waits for one of another partition. */
export function waitsElsewhere(
  links: FlowLinks,
  partition: number,
  job: { readonly after?: unknown } | undefined,
): boolean {
  const after = job?.after;
  return Array.isArray(after) && after.some((one) => links.isElsewhere(partition, one?.id));
}

/** By the first level of the fairness key; the partition refuses what is none. */
export function slotOf(job: Pick<NewJob, "fairnessKey">, slots: number): number {
  if (slots === 1) return 0;
  const key: unknown = job?.fairnessKey;
  const level: unknown = Array.isArray(key) ? key[0] : key;
  return hashOf(typeof level === "string" ? level : "") % slots;
}

/** Groups with members in more than one partition. */
function sharedGroups(queue: string, { shares }: Shares<NewJob>): string[] {
  const counts = new Map<string, number>();
  for (const { items } of shares) {
    for (const name of groupsOf(queue, items)) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].filter(([, count]) => count > 1).map(([name]) => name);
}
