/** Partitions that other processes serve, each over a stream to its owner. */
import { type LinkEvent, reachBroker } from "@sluice/client/remote";
import type { Clock, Duration, SluiceError } from "@sluice/protocol";
import type { Socket } from "@sluice/protocol/wire";
import type { Partitions } from "../directory.ts";
import { BACKOFF_MS_MIN, PATIENCE_MS } from "../limits.ts";
import { closed } from "./make-call.ts";

export type PartitionStream = ReturnType<typeof reachBroker>;

export interface RemotePartitionsOptions {
  /** Connects to the owner of a partition. */
  readonly dial: (partition: number) => Promise<Socket>;
  readonly apiKey?: string | undefined;
  readonly clock?: Clock | undefined;
  readonly random?: (() => number) | undefined;
  readonly defer?: ((callback: () => void) => void) | undefined;
  /** How long a call waits for its answer. Default: without end, once there is a connection. */
  readonly callTimeoutMs?: number | undefined;
  readonly onLink?: ((partition: number, event: LinkEvent) => void) | undefined;
}

export class RemotePartitions implements Partitions {
  readonly #options: RemotePartitionsOptions;
  readonly #ports = new Map<number, PartitionStream>();
  #isClosed = false;

  constructor(options: RemotePartitionsOptions) {
    this.#options = options;
  }

  port(partition: number): PartitionStream {
    const known = this.#ports.get(partition);
    if (known !== undefined) return known;
    if (this.#isClosed) throw closed();
    const { dial, onLink, ...options } = this.#options;
    const port = reachBroker({
      ...options,
      name: `partition ${partition}`,
      client: "router",
      onLink: onLink && ((event) => onLink(partition, event)),
      patienceMs: PATIENCE_MS,
      backoffMsMin: BACKOFF_MS_MIN,
      dial: () => dial(partition),
    });
    this.#ports.set(partition, port);
    return port;
  }

  /** The partition is not elsewhere any more: unanswered calls to it fail with `error`. */
  end(partition: number, error: SluiceError): void {
    const port = this.#ports.get(partition);
    this.#ports.delete(partition);
    port?.end(error);
  }

  async close(options?: { timeout?: Duration | undefined }): Promise<void> {
    this.#isClosed = true;
    const ports = [...this.#ports.values()];
    this.#ports.clear();
    await Promise.all(ports.map((port) => port.close(options)));
  }
}
