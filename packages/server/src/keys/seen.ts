/** What a key sees of answers and events that tell of more than one queue. */
import { type BrokerEvent, type Why, type WhyGated, whyText } from "@sluice/protocol";
import type { Principal } from "./principal.ts";

type QueuesOf = (ids: readonly string[]) => Promise<(string | undefined)[]>;

/**
 * Gates are shared, so the answer to `why` may name jobs and workers of other queues: those that
 * hold a gate's places, are first in its line, or have its next permit. A key learns of them only
 * where it has rights on their queue. Of the others it learns how many hold the gate.
 *
 * `queuesOf` answers the queues that the key may see.
 */
export async function seenWhy(why: Why, queuesOf: QueuesOf): Promise<Why> {
  if (why.state !== "waiting" || why.reason !== "gated") return why;
  const { text: _, asOf, first, holders, keptFor, ...rest } = why;
  const ids = [first?.id, holders?.id, keptFor?.id].filter((id) => id !== undefined);
  const queues = await queuesOf(ids);
  const isSeen = (id: string | undefined): boolean =>
    id !== undefined && queues[ids.indexOf(id)] !== undefined;
  const facts: WhyGated = { ...rest };
  if (isSeen(first?.id)) facts.first = first!;
  if (isSeen(keptFor?.id)) facts.keptFor = keptFor!;
  if (holders !== undefined) facts.holders = isSeen(holders.id) ? holders : countOf(holders);
  return { ...facts, asOf, text: whyText(facts, asOf) };
}

function countOf({ count }: NonNullable<WhyGated["holders"]>): { count: number } {
  return { count };
}

/**
 * Those events of a reader that may be seen. Rights are asked for with each event. A key that is
 * revoked or expires, or loses the queue that is read, ends the reader at once, also while nothing
 * happens: `check` refuses from then on.
 */
export class SeenEvents implements AsyncIterableIterator<BrokerEvent> {
  readonly #events: AsyncIterableIterator<BrokerEvent>;
  readonly #isSeen: (event: BrokerEvent) => boolean;
  readonly #check: () => void;
  readonly #leave: (() => void) | undefined;
  #refusal: unknown;

  constructor(
    events: AsyncIterableIterator<BrokerEvent>,
    principal: Principal,
    check: () => void,
    isSeen: (event: BrokerEvent) => boolean,
  ) {
    this.#events = events;
    this.#isSeen = isSeen;
    this.#check = check;
    this.#leave = principal.watch?.(() => this.#look());
  }

  #look(): void {
    try {
      this.#check();
    } catch (error) {
      this.#refusal = error;
      void this.return();
    }
  }

  async next(): Promise<IteratorResult<BrokerEvent>> {
    for (;;) {
      const result = await this.#events.next();
      if (result.done === true) this.#leave?.();
      if (this.#refusal !== undefined) throw this.#refusal;
      try {
        if (result.done === true || this.#isSeen(result.value)) return result;
      } catch (error) {
        await this.return();
        throw error;
      }
    }
  }

  async return(): Promise<IteratorResult<BrokerEvent>> {
    this.#leave?.();
    await this.#events.return?.();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<BrokerEvent> {
    return this;
  }
}
