/**
 * A node of a cluster: it owns some partitions and serves them, and takes any call, which its
 * router makes where it belongs. A log that fails closes its partition, never the node.
 */
import { randomUUID } from "node:crypto";
import type { OpenOptions } from "@sluice/broker";
import type { Log } from "@sluice/log";
import {
  type Broker,
  type Clock,
  type ClusterStatus,
  SluiceError,
  SystemClock,
} from "@sluice/protocol";
import type { Socket } from "@sluice/protocol/wire";
import type { ClusterDoor, OwnPart } from "@sluice/server";
import {
  PAYLOAD_MEMORY_BYTES,
  READ_CACHE_BYTES,
  READ_CACHE_BYTES_EACH,
  RESUME_MS,
  START_MS_MAX,
} from "../limits.ts";
import { moved } from "../partitions/make-call.ts";
import { OwnerDial } from "../partitions/owner-dial.ts";
import { ServedPartitions } from "../partitions/served-partitions.ts";
import type { Registry, WatchedEntry } from "../registry/registry.ts";
import { ClusterRouter } from "../router/cluster-router.ts";
import { keepTrying } from "../within.ts";
import { type ClusterEntry, joinCluster } from "./cluster-entry.ts";
import { ClusterKeys } from "./cluster-keys.ts";
import { Figures } from "./figures.ts";
import { HomeCopies } from "./home-copies.ts";
import type { Member } from "./members.ts";
import { type FollowedLog, OpenPartitions, type OpenPartitionsOptions } from "./open-partitions.ts";
import { Ownership } from "./ownership.ts";
import type { KnownLog } from "./partition-life.ts";
import { Peers } from "./peers.ts";
import { askToDrain } from "./presence.ts";
import { RegistryDirectory } from "./registry-directory.ts";
import { statusOf } from "./status.ts";

export interface ClusterNodeOptions {
  readonly registry: Registry;
  /** Opens the log of a partition, which fences whoever had it. */
  readonly openLog: (partition: number, share: LogShare) => Promise<Log>;
  /** Reads the log of a partition that is about to be handed to this node. */
  readonly followLog?: ((partition: number, share: LogShare) => Promise<FollowedLog>) | undefined;
  /** Connects to another node. */
  readonly dial: (url: string) => Promise<Socket>;
  /** By which the others know this node; a newer process of the same name replaces it. */
  readonly node: string;
  readonly version: string;
  /** Of a new cluster; what people call it. */
  readonly name?: string | undefined;
  /** Of a new cluster; one that is there has as many as it has. Default 12. */
  readonly partitions?: number | undefined;
  readonly broker?: Omit<OpenOptions, "log" | "clock" | "onFailure" | "homes"> | undefined;
  readonly clock?: Clock | undefined;
  readonly leaseMs?: number | undefined;
  readonly resumeMs?: number | undefined;
  /**
   * A partition could not be opened, or its log has failed; without a partition: the registry was
   * not reached. The node goes on.
   */
  readonly onError?: ((partition: number | undefined, error: SluiceError) => void) | undefined;
  /** Another process has our name. */
  readonly onSuperseded?: ((error: SluiceError) => void) | undefined;
}

/** What one of the logs of a node may use of what they have together. */
/** How a log is to be opened: its part of the node's memory, and what is known of it. */
export interface LogShare extends KnownLog {
  readonly readCacheBytes: number;
}

/** The anchor of a log that its owner still writes is known when it is taken over. */
const FOLLOWED: KnownLog = { hasLog: true, anchor: undefined };

interface Parts {
  readonly cluster: ClusterEntry;
  readonly ownership: Ownership;
  readonly directory: RegistryDirectory;
  readonly open: OpenPartitions;
  readonly router: ClusterRouter;
  readonly owners: OwnerDial;
  readonly partitions: ServedPartitions;
  readonly figures: Figures;
  readonly peers: Peers;
  readonly copies: HomeCopies;
}

export class ClusterNode implements ClusterDoor {
  readonly #options: ClusterNodeOptions;
  readonly #clock: Clock;
  readonly #incarnation = randomUUID();
  readonly #secret = Promise.withResolvers<string>();
  readonly #listeners = new Set<() => void>();
  /** What went wrong with partitions that are not served since. */
  readonly #troubles = new Map<number, string>();
  readonly keys: ClusterKeys;
  #parts: Parts | undefined;
  #version = 0;

  constructor(options: ClusterNodeOptions) {
    this.#options = options;
    this.#clock = options.clock ?? new SystemClock();
    this.#secret.promise.catch(() => {});
    this.keys = new ClusterKeys({
      registry: options.registry,
      clock: this.#clock,
      node: options.node,
      readBy: () => this.#livingNodes(),
      onChange: (listener) => this.onChange(listener),
      tell: () => this.#parts?.ownership.tellNow(),
      onError: (error) => options.onError?.(undefined, error),
    });
  }

  /** Joins the cluster under the address at which others reach this node. */
  async start(address: string): Promise<Broker> {
    try {
      const { registry, name, partitions } = this.#options;
      const cluster = await keepTrying(this.#clock, START_MS_MAX, () =>
        joinCluster(registry, { name, partitions }),
      );
      this.#secret.resolve(cluster.secret);
      const parts = this.#assemble(cluster, address);
      this.#parts = parts;
      parts.ownership.onChange(() => {
        parts.open.look();
        this.#changed();
      });
      parts.directory.onChange(() => this.#changed());
      await parts.ownership.start();
      return parts.router;
    } catch (error) {
      this.#secret.reject(error);
      throw error;
    }
  }

  get secret(): Promise<string> {
    return this.#secret.promise;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  accept: ClusterDoor["accept"] = (partition, socket, admit) => {
    if (this.#parts === undefined) socket.close(1001, "the node is joining its cluster");
    else this.#parts.open.accept(partition, socket, admit);
  };

  status(): ClusterStatus {
    const { ownership, cluster, directory } = this.#started();
    const { name, partitions } = cluster;
    const { node: self } = this.#options;
    // A count alone would begin anew with the process, and a client would take it for its own.
    const version = `${this.#incarnation}.${this.#version}`;
    return statusOf(ownership, { name, self, version, partitions }, directory.list());
  }

  own(): OwnPart {
    const { ownership, open, cluster } = this.#started();
    if (!ownership.isHearing) return { trouble: "the node does not hear its cluster", brokers: [] };
    const brokers: Broker[] = [];
    for (let partition = 0; partition < cluster.partitions; partition++) {
      const state = ownership.life(partition)?.state;
      const broker = open.brokerOf(partition);
      if (state === "resting") {
        return { trouble: `the log of partition ${partition} does not answer`, brokers };
      }
      if (state === "serving" && broker !== undefined) brokers.push(broker);
    }
    return { brokers };
  }

  async drain(node: string): Promise<void> {
    const { nodes } = this.status();
    const isOwner = nodes.some(({ id, owned }) => id === node && owned > 0);
    const isHeir = ({ id, isAlive, isDraining }: (typeof nodes)[number]): boolean =>
      id !== node && isAlive && !isDraining;
    if (isOwner && !nodes.some(isHeir)) {
      const message = `nobody could take the partitions of ${node}: start another node first`;
      throw new SluiceError("CONFLICT", message, { field: "node", value: node });
    }
    await askToDrain(this.#options.registry, this.#clock, node);
  }

  /** Gives the partitions to the others, as far as they take them in time; calls go on. */
  async leave(options: { timeout?: number } = {}): Promise<void> {
    await this.#parts?.ownership.close(options);
  }

  /** Leaves, and takes no more calls. */
  async close(options: { timeout?: number } = {}): Promise<void> {
    await this.leave(options);
    await this.stop();
  }

  /** As if the process had died: nothing is said to the others, who find out by themselves. */
  async stop(): Promise<void> {
    if (this.#parts === undefined) return;
    const { ownership, owners, figures, open, router, peers, copies } = this.#parts;
    ownership.stop();
    copies.stop();
    figures.stop();
    peers.stop();
    await open.stop();
    await router.close();
    owners.close();
  }

  #assemble(cluster: ClusterEntry, address: string): Parts {
    const { registry, dial, resumeMs = RESUME_MS } = this.#options;
    const clock = this.#clock;
    const count = cluster.partitions;
    const directory = new RegistryDirectory(registry, count);
    const owners = new OwnerDial({
      clock,
      dial,
      addressOf: (partition) => ownership.ownerOf(partition)?.address,
      onChange: (listener) => this.onChange(listener),
    });
    const partitions: ServedPartitions = new ServedPartitions({
      apiKey: cluster.secret,
      resumeMs,
      elsewhere: (partition) => this.#dialOwner(partition),
      onGone: (partition, error) => ownership.fail(partition, error),
    });
    const open: OpenPartitions = new OpenPartitions({
      clock,
      ...this.#logs(count),
      broker: this.#brokerOptions(count),
      partitions,
      count,
      resumeMs,
      troubleOf: (partition) => this.#troubles.get(partition),
      isExpected: (partition) => ownership.ownerOf(partition)?.isSelf === true,
      onFailed: (partition, error) => ownership.fail(partition, error),
      onServed: (partition) => this.#served(partition),
    });
    const figures = new Figures(clock, count, (partition) => open.brokerOf(partition));
    const ownership: Ownership = new Ownership({
      registry,
      clock,
      node: this.#options.node,
      incarnation: this.#incarnation,
      address,
      version: this.#options.version,
      partitions: count,
      host: open,
      leaseMs: this.#options.leaseMs,
      figures: (partition) => figures.of(partition),
      keysRead: () => this.keys.read,
      unreached: () => peers.unreached,
      onEntry: (entry) => this.#hear(entry, directory),
      onError: (partition, error) => {
        if (partition !== undefined) this.#troubles.set(partition, error.message);
        this.#options.onError?.(partition, error);
      },
      onSuperseded: this.#options.onSuperseded,
    });
    const peers: Peers = new Peers({
      clock,
      node: this.#options.node,
      living: () => this.#livingNodes(),
      dial,
    });
    const copies = new HomeCopies({
      clock,
      count,
      portOf: (partition) => partitions.port(partition),
      brokerOf: (partition) => open.brokerOf(partition),
    });
    const router = new ClusterRouter({ directory, partitions });
    const own = { ownership, directory, open, owners, partitions, figures, peers, copies };
    return { cluster, router, ...own };
  }

  #logs(partitions: number): Pick<OpenPartitionsOptions, "openLog" | "followLog"> {
    const { openLog, followLog } = this.#options;
    const share = Math.ceil(READ_CACHE_BYTES / partitions);
    const ours = { readCacheBytes: Math.min(READ_CACHE_BYTES_EACH, share) };
    return {
      openLog: (partition, known) => openLog(partition, { ...ours, ...known }),
      followLog: followLog && ((partition) => followLog(partition, { ...ours, ...FOLLOWED })),
    };
  }

  #brokerOptions(partitions: number): Omit<OpenOptions, "log" | "clock" | "onFailure" | "homes"> {
    const { payloadMemoryBytes = PAYLOAD_MEMORY_BYTES, ...rest } = this.#options.broker ?? {};
    return { ...rest, payloadMemoryBytes: Math.ceil(payloadMemoryBytes / partitions) };
  }

  /** One that is about to be served here is waited for; the others are dialled. */
  async #dialOwner(partition: number): Promise<Socket> {
    const { ownership, open, owners } = this.#started();
    if (ownership.ownerOf(partition)?.isSelf !== true) return owners.dial(partition);
    // Once it is served, calls go to its broker directly.
    await open.served(partition);
    throw moved(partition, "it is being opened");
  }

  #served(partition: number): void {
    this.#troubles.delete(partition);
    this.#started().copies.opened(partition);
  }

  #hear(entry: WatchedEntry, directory: RegistryDirectory): void {
    if (entry.key === "keys") this.keys.hear(entry.revision);
    else directory.hear(entry);
  }

  #livingNodes(): Member[] {
    const nodes = this.#parts?.ownership.nodes() ?? [];
    return nodes.filter(({ isAlive }) => isAlive);
  }

  #changed(): void {
    this.#version++;
    for (const listener of [...this.#listeners]) listener();
  }

  #started(): Parts {
    if (this.#parts !== undefined) return this.#parts;
    throw new SluiceError("RECOVERING", "the node is joining its cluster", { retryAfterMs: 500 });
  }
}
