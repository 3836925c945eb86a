/**
 * A cluster as a client knows it: who owns what, and where queues are. It waits at one node for
 * changes, and goes to the next when that one does not answer or is cut off from its cluster; with
 * every answer it learns of nodes that it did not know.
 */
import { setTimeout } from "node:timers/promises";
import type { ClientTls } from "@sluice/client/ws";
import { type ClusterStatus, SluiceError, toSluiceError } from "@sluice/protocol";
import type { Directory } from "../directory.ts";
import { homeOfQueue } from "../hash.ts";
import { STATUS_MS, STATUS_PAUSE_MS, STATUS_WAIT_MS } from "../limits.ts";
import { heldAt } from "../node/placement.ts";
import { askStatus } from "./ask-status.ts";

export interface ClusterViewOptions {
  readonly urls: readonly string[];
  readonly apiKey: string | undefined;
  readonly tls: ClientTls;
}

export class ClusterView implements Directory {
  readonly #options: ClusterViewOptions;
  readonly #listeners = new Set<() => void>();
  readonly #over = new AbortController();
  #urls: readonly string[];
  #at = 0;
  #status: ClusterStatus;
  #placed: ReadonlyMap<string, Placed>;

  private constructor(options: ClusterViewOptions, status: ClusterStatus, at: number) {
    this.#options = options;
    this.#urls = options.urls;
    this.#at = at;
    this.#status = status;
    this.#placed = placementsOf(status);
    this.#set(status);
  }

  /** Resolves when one of the nodes has answered; rejects with what the last one said. */
  static async open(options: ClusterViewOptions): Promise<ClusterView> {
    let refusal = new SluiceError("INVALID", "connect.url must name at least one node");
    for (const [at, url] of options.urls.entries()) {
      try {
        const signal = AbortSignal.timeout(STATUS_MS);
        const view = new ClusterView(options, await askStatus({ ...options, url, signal }), at);
        void view.#follow();
        return view;
      } catch (error) {
        refusal = toSluiceError(error);
      }
    }
    throw refusal;
  }

  get partitions(): number {
    return this.#status.partitionCount;
  }

  get homes(): number {
    return this.#status.homeCount ?? this.#status.partitionCount;
  }

  isPlaced(queue: string): boolean {
    return this.#placed.has(queue);
  }

  /** Where nodes are that live, the one that was last asked first. */
  get urls(): readonly string[] {
    return [...this.#urls.slice(this.#at), ...this.#urls.slice(0, this.#at)];
  }

  addressOf(partition: number): string | undefined {
    return this.#status.partitions[partition]?.address;
  }

  placementOf(queue: string): readonly number[] {
    return this.#placed.get(queue)?.partitions ?? [homeOfQueue(queue, this.homes)];
  }

  addsTo(queue: string): readonly number[] {
    return this.#placed.get(queue)?.adds ?? this.placementOf(queue);
  }

  heldAt(queue: string): number | undefined {
    const placed = this.#placed.get(queue);
    return placed === undefined ? undefined : heldAt(placed);
  }

  /** Nodes place queues: a client that makes a queue asks a node to place it. */
  async place(): Promise<void> {
    await this.refresh();
  }

  async unplace(): Promise<void> {
    await this.refresh();
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Asks now; what cannot be asked is asked again anyway. */
  async refresh(): Promise<void> {
    const signal = AbortSignal.any([this.#over.signal, AbortSignal.timeout(STATUS_MS)]);
    const url = this.#urls[this.#at]!;
    try {
      this.#set(current(await askStatus({ ...this.#options, url, signal })));
    } catch {
      this.#at = (this.#at + 1) % this.#urls.length;
    }
  }

  close(): void {
    this.#over.abort();
  }

  async #follow(): Promise<void> {
    let failures = 0;
    while (!this.#over.signal.aborted) {
      try {
        await this.#next();
        failures = 0;
      } catch {
        this.#at = (this.#at + 1) % this.#urls.length;
        // After a round without an answer there is no hurry.
        if (++failures < this.#urls.length) continue;
        await setTimeout(STATUS_PAUSE_MS, undefined, { signal: this.#over.signal }).catch(() => {});
      }
    }
  }

  async #next(): Promise<void> {
    const late = AbortSignal.timeout(STATUS_WAIT_MS + STATUS_MS);
    const signal = AbortSignal.any([this.#over.signal, late]);
    const url = this.#urls[this.#at]!;
    const after = this.#status.version;
    const question = { ...this.#options, url, signal, after, wait: STATUS_WAIT_MS };
    this.#set(current(await askStatus(question)));
  }

  #set(status: ClusterStatus): void {
    const url = this.#urls[this.#at]!;
    const living = status.nodes.filter(({ isAlive }) => isAlive).map(({ address }) => address);
    // Those that we heard of stay: they may be names that only we can use.
    this.#urls = [...new Set([...this.#options.urls, ...living, url])];
    this.#at = this.#urls.indexOf(url);
    if (status.version === this.#status.version) return;
    this.#status = status;
    this.#placed = placementsOf(status);
    for (const listener of [...this.#listeners]) listener();
  }
}

/** A node that is cut off answers with the owners of before. */
function current(status: ClusterStatus): ClusterStatus {
  if (status.isHearing !== false) return status;
  throw new SluiceError(
    "DISCONNECTED",
    `node ${status.self} receives no heartbeats from its cluster; the client tries another node`,
  );
}

type Placed = ClusterStatus["placements"][number];

function placementsOf({ placements }: ClusterStatus): ReadonlyMap<string, Placed> {
  return new Map(placements.map((placed) => [placed.queue, placed]));
}
