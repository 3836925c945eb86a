/**
 * How full JetStream is for this cluster, as far as a client can know it: what its account may
 * store, and what the streams of its logs may hold (`sluice cluster create --storage`). A full
 * disk stops NATS for everybody, so adds are refused before.
 */
import { findStream, jetStreamManagerOf } from "@sluice/log/nats";
import type { Clock, Timer } from "@sluice/protocol";
import { STORAGE_LOOK_MS } from "../limits.ts";
import type { Nats } from "./reach-nats.ts";

export interface StorageWatchOptions {
  readonly clock: Clock;
  readonly connection: Nats;
  readonly streamOf: (partition: number) => string;
  /** The partitions that this node serves. */
  readonly served: () => readonly number[];
}

export class StorageWatch {
  readonly #options: StorageWatchOptions;
  readonly #streams = new Map<number, number>();
  readonly #leaders = new Map<number, string | undefined>();
  #account = 0;
  #timer: Timer | undefined;
  #isOver = false;

  constructor(options: StorageWatchOptions) {
    this.#options = options;
    this.#next();
  }

  /** Which part of what it may use is used, from 0 to 1; 0 where there is no bound. */
  shareOf(partition: number): number {
    return Math.max(this.#account, this.#streams.get(partition) ?? 0);
  }

  /** The server that leads the stream of a partition that this node serves. */
  leaderOf(partition: number): string | undefined {
    return this.#leaders.get(partition);
  }

  stop(): void {
    this.#isOver = true;
    this.#timer?.cancel();
  }

  #next(): void {
    if (this.#isOver) return;
    const { clock } = this.#options;
    this.#timer = clock.at(clock.now() + STORAGE_LOOK_MS, () => {
      void this.#look()
        // What was known last holds while NATS does not answer.
        .catch(() => {})
        .finally(() => this.#next());
    });
    this.#timer.unref?.();
  }

  async #look(): Promise<void> {
    const { connection, served, streamOf } = this.#options;
    const manager = await jetStreamManagerOf(connection);
    const { storage, limits } = await manager.getAccountInfo();
    this.#account = shareOf(storage, limits.max_storage);
    const partitions = served();
    for (const known of this.#streams.keys()) {
      if (partitions.includes(known)) continue;
      this.#streams.delete(known);
      this.#leaders.delete(known);
    }
    for (const partition of partitions) {
      const found = await findStream(connection, streamOf(partition));
      if (found === undefined) continue;
      // One that is alone leads all of its streams.
      this.#leaders.set(partition, found.cluster?.leader ?? connection.info?.server_name);
      this.#streams.set(partition, shareOf(found.state.bytes, found.config.max_bytes));
    }
  }
}

function shareOf(used: number, most: number | undefined): number {
  return most === undefined || most <= 0 ? 0 : used / most;
}
