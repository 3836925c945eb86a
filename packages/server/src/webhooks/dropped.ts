/**
 * Messages that found no room in the queue, counted by webhook, so that people see that some are
 * missing. All nodes of a cluster count the same events: the count of one is that of all.
 */
import type { Broker } from "@sluice/protocol";
import { WEBHOOKS_SENT_STORE } from "../keys/rights.ts";
import type { Dropped } from "./webhook.ts";

const KEY = "dropped";

export class DroppedMessages {
  readonly #broker: Broker;
  readonly #of: Map<string, Dropped>;
  #isChanged = false;

  private constructor(broker: Broker, of: Map<string, Dropped>) {
    this.#broker = broker;
    this.#of = of;
  }

  static async load(broker: Broker): Promise<DroppedMessages> {
    const [stored = {}] = await broker.storeGet(WEBHOOKS_SENT_STORE, [KEY]);
    return new DroppedMessages(broker, new Map(Object.entries(stored as Record<string, Dropped>)));
  }

  of(webhook: string): Dropped | undefined {
    return this.#of.get(webhook);
  }

  add(webhook: string, at: number): void {
    const { count, lastAt } = this.#of.get(webhook) ?? { count: 0, lastAt: 0 };
    this.#of.set(webhook, { count: count + 1, lastAt: Math.max(lastAt, at) });
    this.#isChanged = true;
  }

  /** Stores the counts of the webhooks that there still are. */
  async save(known: ReadonlySet<string>): Promise<void> {
    if (!this.#isChanged) return;
    this.#isChanged = false;
    for (const webhook of this.#of.keys()) if (!known.has(webhook)) this.#of.delete(webhook);
    const value = Object.fromEntries(this.#of);
    try {
      await this.#broker.storeWrite(WEBHOOKS_SENT_STORE, [{ key: KEY, value }]);
    } catch (error) {
      this.#isChanged = true;
      throw error;
    }
  }
}
