/** Adds jobs: each to the partition of its fairness key, all of one call at the same time. */
import {
  type Added,
  type AddOptions,
  type Broker,
  checkSignal,
  type ErrorJson,
  groupsOf,
  type NewJob,
  type Outcome,
  toSluiceError,
} from "@sluice/protocol";
import type { FlowLinks } from "../flows/flow-links.ts";
import { hashOf } from "../hash.ts";
import { MOVED_MS } from "../limits.ts";
import { callShares, type Share, type Shares, sharesOf } from "./batch.ts";
import type { CallerGroups } from "./caller-groups.ts";
import type { PartitionCalls } from "./partition-calls.ts";
import type { QueueCopies } from "./queue-copies.ts";
import { RecentNames } from "./recent-names.ts";

export class RoutedAdds {
  readonly #calls: PartitionCalls;
  readonly #copies: QueueCopies;
  readonly #held: CallerGroups;
  readonly #links: FlowLinks;
  /** Where queues that have moved take jobs, and since when this process adds them there. */
  readonly #moved = new RecentNames<{ readonly adds: string; readonly sinceMs: number }>();

  constructor(calls: PartitionCalls, copies: QueueCopies, held: CallerGroups, links: FlowLinks) {
    this.#calls = calls;
    this.#copies = copies;
    this.#held = held;
    this.#links = links;
  }

  async add(
    queue: string,
    jobs: readonly NewJob[],
    options: AddOptions & { operationId: string },
    isNamed: boolean,
  ): Promise<Outcome<Added>[]> {
    const { signal, operationId } = options;
    checkSignal(signal);
    const former = isNamed ? this.#former(queue, operationId) : [];
    const adds = this.#calls.directory.addsTo(queue);
    const placement = former.length === 0 ? adds : await this.#placeOf(queue, operationId, former);
    const partitionOf = (job: NewJob): number => placement[slotOf(job, placement.length)]!;
    const own = waitForOthers(jobs)
      ? await this.#links.localised(jobs, partitionOf, operationId)
      : { jobs, refused: NONE };
    const { refused } = own;
    const shares = sharesOf(own.jobs, (job, i) => refused.get(i) ?? partitionOf(job));
    const [first] = shares.shares;
    if (shares.shares.length <= 1 && refused.size === 0) {
      return this.#addTo(queue, first?.partition ?? placement[0]!, own.jobs, options);
    }
    const held = sharedGroups(queue, shares);
    const outcomes = await this.#addShares(queue, shares, options, held);
    if (outcomes.some(({ error }) => error?.code === "ABORTED")) checkSignal(signal);
    return outcomes;
  }

  /**
   * The partitions that a queue leaves, or has left, where a call that is repeated may have been
   * made first. A numbered one may be repeated days later.
   */
  #former(queue: string, operationId: string): readonly number[] {
    const { directory } = this.#calls;
    const adds = directory.addsTo(queue);
    const former = directory.placementOf(queue).filter((partition) => !adds.includes(partition));
    if (former.length === 0) return former;
    const isAsked =
      directory.heldAt(queue) !== undefined ||
      operationId.startsWith("numbered:") ||
      this.#isNewlyMoved(queue, adds);
    return isAsked ? former : [];
  }

  /** Whether a call that was made before the move may still be repeated. */
  #isNewlyMoved(queue: string, adds: readonly number[]): boolean {
    const nowMs = this.#calls.clock.now();
    const known = this.#moved.get(queue);
    const now = adds.join();
    if (known?.adds === now) return nowMs < known.sinceMs + MOVED_MS;
    this.#moved.set(queue, { adds: now, sinceMs: nowMs });
    return true;
  }

  /** Where the call was made before; else where it is made now. */
  async #placeOf(
    queue: string,
    operationId: string,
    former: readonly number[],
  ): Promise<readonly number[]> {
    const answers = await Promise.all(
      former.map((one) => this.#calls.ask(one, (port) => isKnown(port, queue, operationId))),
    );
    const known = former.filter((_, i) => answers[i]);
    if (known.length === 0) return this.#calls.directory.addsTo(queue);
    return known.length === 1 ? known : former;
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

const NONE: ReadonlyMap<number, ErrorJson> = new Map();

/** Whether a partition has made an add of this id: then one of no jobs is another call. */
async function isKnown(port: Broker, queue: string, operationId: string): Promise<boolean> {
  try {
    await port.add(queue, [], { operationId });
    return false;
  } catch (error) {
    const { code, details } = toSluiceError(error);
    if (code === "CONFLICT" && details.field === "operationId") return details.newest === undefined;
    if (code === "QUEUE_NOT_FOUND") return false;
    throw error;
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
