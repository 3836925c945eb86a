/**
 * What every partition has a copy of, and one is the home of: the limits of a gate, and the store
 * that policies read. A change is sent to all partitions. A partition that was away then, or whose
 * log was started again, has a different copy. So a partition that is opened is compared with all
 * homes, for as long as it is served here and one of them has not answered.
 *
 * A home may change while it is compared, and what is copied then may be older than what another
 * caller has sent to the partition meanwhile. So what had to be changed is compared once more: a
 * home is done with when nothing was different.
 */
import type { Broker, Clock } from "@sluice/protocol";
import { homeOfGate, homeOfStore } from "../hash.ts";
import { COPY_AGAIN_MS, COPY_MS_MAX } from "../limits.ts";
import { within } from "../within.ts";
import { alignConfig, CONFIG_STORE, readConfig } from "./copy-config.ts";
import { alignGates, readGates } from "./copy-gates.ts";

export interface HomeCopiesOptions {
  readonly clock: Clock;
  /** How many there are in the cluster. */
  readonly count: number;
  /** The port of a partition, whichever node owns it. */
  readonly portOf: (partition: number) => Broker;
  /** The broker of a partition that is open here. */
  readonly brokerOf: (partition: number) => Broker | undefined;
}

export class HomeCopies {
  readonly #options: HomeCopiesOptions;
  readonly #storeHome: number;
  /** By home: the partitions that are open here and still to be compared with it. */
  readonly #due = new Map<number, Set<number>>();
  /** By partition: gates whose limits its last compare has not found at their home. */
  readonly #doubted = new Map<number, Set<string>>();
  readonly #running = new Set<number>();
  #isStopped = false;

  constructor(options: HomeCopiesOptions) {
    this.#options = options;
    this.#storeHome = homeOfStore(CONFIG_STORE, options.count);
    for (let home = 0; home < options.count; home++) this.#due.set(home, new Set());
  }

  /** A partition is served here from now on. */
  opened(partition: number): void {
    this.#doubted.delete(partition);
    for (const [home, due] of this.#due) {
      if (home === partition) continue;
      due.add(partition);
      if (!this.#running.has(home)) void this.#run(home, due);
    }
  }

  stop(): void {
    this.#isStopped = true;
  }

  #doubtedOf(partition: number): Set<string> {
    const doubted = this.#doubted.get(partition) ?? new Set();
    this.#doubted.set(partition, doubted);
    return doubted;
  }

  /** Each home on its own: one that is away does not block the others. */
  async #run(home: number, due: Set<number>): Promise<void> {
    const { clock } = this.#options;
    this.#running.add(home);
    while (due.size > 0 && !this.#isStopped) {
      await within(clock, COPY_MS_MAX, this.#compare(home, due)).catch(() => {});
      if (due.size === 0 || this.#isStopped) break;
      await new Promise<void>((resolve) => {
        clock.at(clock.now() + COPY_AGAIN_MS, resolve).unref?.();
      });
    }
    this.#running.delete(home);
  }

  /** Reads a home once, for all partitions that are to be compared with it. */
  async #compare(home: number, due: Set<number>): Promise<void> {
    const { count, portOf, brokerOf } = this.#options;
    const asked = [...due];
    const isOfHome = (key: string): boolean => homeOfGate(key, count) === home;
    const port = portOf(home);
    const [gates, config] = await Promise.all([
      readGates(port, isOfHome),
      home === this.#storeHome ? readConfig(port) : undefined,
    ]);
    await Promise.allSettled(
      asked.map(async (partition) => {
        const broker = brokerOf(partition);
        let changes = 0;
        if (broker !== undefined) {
          changes += await alignGates(gates, broker, isOfHome, this.#doubtedOf(partition));
          if (config !== undefined) changes += await alignConfig(config, broker);
        }
        // If it is not open here, the node that opens it next compares it again.
        if (changes === 0) due.delete(partition);
      }),
    );
  }
}
