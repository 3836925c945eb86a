/**
 * A node of a cluster: it owns some partitions and serves them, and takes any call, which its
 * router makes where it belongs. A log that fails closes its partition, never the node.
 */
import { randomUUID } from "node:crypto";
import { FEATURE_LEVEL, type LocalBroker, type OpenOptions } from "@sluice/broker";
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
import type { Heartbeats } from "../heartbeats/heartbeats.ts";
import {
  ELECTION_MS,
  ERROR_CHARS_MAX,
  PAYLOAD_MEMORY_BYTES,
  READ_CACHE_BYTES,
  READ_CACHE_BYTES_EACH,
  RELAY_MS_MAX,
  RESUME_MS,
  START_MS_MAX,
} from "../limits.ts";
import { moved } from "../partitions/make-call.ts";
import { OwnerDial, partitionUrl } from "../partitions/owner-dial.ts";
import { relay } from "../partitions/relay.ts";
import { ServedPartitions } from "../partitions/served-partitions.ts";
import type { Registry, WatchedEntry } from "../registry/registry.ts";
import { ClusterRouter } from "../router/cluster-router.ts";
import { PartitionCalls } from "../router/partition-calls.ts";
import { dialWithin, keepTrying } from "../within.ts";
import { CLUSTER_KEY, type ClusterEntry, joinCluster, partitionsIn } from "./cluster-entry.ts";
import { ClusterKeys, KEYS_KEY } from "./cluster-keys.ts";
import { ClusterLevel } from "./cluster-level.ts";
import { Figures } from "./figures.ts";
import { HomeCopies } from "./home-copies.ts";
import type { Member } from "./members.ts";
import { type FollowedLog, OpenPartitions, type OpenPartitionsOptions } from "./open-partitions.ts";
import { Ownership } from "./ownership.ts";
import type { KnownLog } from "./partition-life.ts";
import { Peers } from "./peers.ts";
import { askToDrain } from "./presence.ts";
import { QueueMoves } from "./queue-moves.ts";
import { QUEUE_PREFIX, RegistryDirectory } from "./registry-directory.ts";
import { statusOf } from "./status.ts";
import { storageLow } from "./storage-low.ts";

export interface ClusterNodeOptions {
  readonly registry: Registry;
  readonly heartbeats: Heartbeats;
  /** Opens the log of a partition, which fences its previous owner. */
  readonly openLog: (partition: number, share: LogShare) => Promise<Log>;
  /** Reads the log of a partition that is about to be handed to this node. */
  readonly followLog?: ((partition: number, share: LogShare) => Promise<FollowedLog>) | undefined;
  /** Connects to another node. */
  readonly dial: (url: string) => Promise<Socket>;
  /** By which the others know this node; a newer process of the same name replaces it. */
  readonly node: string;
  readonly version: string;
  /** What this node understands. Default: all that this release does. */
  readonly level?: number | undefined;
  readonly broker?: Omit<OpenOptions, "log" | "clock" | "onFailure" | "homes"> | undefined;
  readonly clock?: Clock | undefined;
  readonly leaseMs?: number | undefined;
  /** Partitions with so many jobs have a standby. Default 100,000. */
  readonly standbyJobs?: number | undefined;
  readonly resumeMs?: number | undefined;
  /** How long callers may not have heard that a queue moves. Default 5,000. */
  readonly moveSettleMs?: number | undefined;
  /** The connection to NATS, and which of its servers leads the stream of a partition. */
  readonly nats?: (() => NonNullable<ClusterStatus["nats"]>) | undefined;
  readonly leaderOf?: ((partition: number) => string | undefined) | undefined;
  /** Which part of its storage the log of a partition uses, from 0 to 1. */
  readonly storageOf?: ((partition: number) => number) | undefined;
  /**
   * A partition could not be opened, or its log has failed; without a partition: the registry was
   * not reached. The node keeps running.
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
  /** What is served here, and nothing else. */
  readonly own: ClusterRouter;
  readonly owners: OwnerDial;
  readonly partitions: ServedPartitions;
  readonly figures: Figures;
  readonly peers: Peers;
  readonly copies: HomeCopies;
  readonly level: ClusterLevel;
  readonly moves: QueueMoves;
}

export class ClusterNode implements ClusterDoor {
  readonly #options: ClusterNodeOptions;
  readonly #clock: Clock;
  readonly #incarnation = randomUUID();
  readonly #secret = Promise.withResolvers<string>();
  readonly #listeners = new Set<() => void>();
  /** What went wrong with partitions that are not served since. */
  readonly #troubles = new Map<number, SluiceError>();
  readonly keys: ClusterKeys;
  #parts: Parts | undefined;
  #version = 0;
  /** When it began to join: until its first write goes through, silence counts from here. */
  #joinedAt = Number.NEGATIVE_INFINITY;

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
      const { registry, level } = this.#options;
      const cluster = await keepTrying(this.#clock, START_MS_MAX, () =>
        joinCluster(registry, level),
      );
      this.#secret.resolve(cluster.secret);
      const parts = this.#assemble(cluster, address);
      this.#joinedAt = this.#clock.now();
      this.#parts = parts;
      parts.ownership.onChange(() => {
        parts.open.look();
        this.#changed();
      });
      parts.directory.onChange(() => this.#changed());
      await parts.ownership.start();
      parts.level.start();
      parts.moves.start();
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

  accept: ClusterDoor["accept"] = (partition, socket, admit, mayRelay) => {
    if (this.#parts === undefined) return socket.close(1001, "the node is joining its cluster");
    const { open, ownership } = this.#parts;
    const owner = ownership.ownerOf(partition);
    const accept = (): void => open.accept(partition, socket, admit);
    if (!mayRelay || owner === undefined || owner.isSelf) return accept();
    const dialled = this.#options.dial(partitionUrl(owner.address, partition));
    relay(socket, dialWithin(this.#clock, RELAY_MS_MAX, dialled), accept);
  };

  status(): ClusterStatus {
    const { ownership, cluster, directory } = this.#started();
    const { name, homes } = cluster;
    const { partitions } = directory;
    const { node: self } = this.#options;
    // A count alone would start again with the process, and a client would take it for its own.
    const version = `${this.#incarnation}.${this.#version}`;
    const storageUsed = this.storageUsed();
    const nats = this.#options.nats?.();
    const own = { name, self, version, partitions, homes, storageUsed, nats };
    return statusOf(ownership, own, directory.list());
  }

  own(): OwnPart {
    const { ownership, open, directory } = this.#started();
    if (!ownership.isHearing) return { trouble: "the node does not hear its cluster", brokers: [] };
    const brokers: Broker[] = [];
    for (let partition = 0; partition < directory.partitions; partition++) {
      const state = ownership.life(partition)?.state;
      const broker = open.brokerOf(partition);
      if (state === "resting") {
        return { trouble: `the log of partition ${partition} does not answer`, brokers };
      }
      if (state === "serving" && broker !== undefined) brokers.push(broker);
    }
    const low = storageLow(this.storageUsed());
    return low === undefined ? { brokers } : { brokers, warning: low.message };
  }

  ownBroker(): Broker {
    return this.#started().own;
  }

  /** Of the fullest log that this node serves, from 0 to 1. */
  storageUsed(): number {
    const { storageOf = () => 0 } = this.#options;
    return Math.max(0, ...this.servedPartitions().map(storageOf));
  }

  servedPartitions(): number[] {
    if (this.#parts === undefined) return [];
    const { ownership, directory } = this.#parts;
    const all = Array.from({ length: directory.partitions }, (_, partition) => partition);
    return all.filter((partition) => ownership.life(partition)?.state === "serving");
  }

  /**
   * For how long our NATS server may have been of no use; 0: it is of use. What only waits for the
   * election of a leader would wait at another server as well.
   */
  troubleMs(): number {
    if (this.#parts === undefined) return 0;
    const { ownership, figures, directory } = this.#parts;
    const silentMs = this.#clock.now() - Math.max(ownership.renewedAt, this.#joinedAt);
    const isElected = !ownership.waitsElsewhere;
    const lags = Array.from({ length: directory.partitions }, (_, i) => figures.of(i).lagMs);
    const log = Math.max(0, ...lags) - ELECTION_MS;
    return Math.max(0, isElected ? silentMs : silentMs - ELECTION_MS, log);
  }

  async drain(node: string): Promise<void> {
    const { nodes } = this.status();
    const isOwner = nodes.some(({ id, owned }) => id === node && owned > 0);
    const isHeir = ({ id, isAlive, isDraining }: (typeof nodes)[number]): boolean =>
      id !== node && isAlive && !isDraining;
    if (isOwner && !nodes.some(isHeir)) {
      const message = `cannot drain node ${node}: no other node is available. Start one first`;
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
    const { ownership, owners, figures, open, router, own, peers } = this.#parts;
    const { copies, level, moves } = this.#parts;
    ownership.stop();
    moves.stop();
    level.stop();
    copies.stop();
    figures.stop();
    peers.stop();
    await open.stop();
    await Promise.all([router.close(), own.close()]);
    owners.close();
  }

  #assemble(cluster: ClusterEntry, address: string): Parts {
    const { registry, dial, resumeMs = RESUME_MS } = this.#options;
    const clock = this.#clock;
    const count = cluster.partitions;
    const nameOf = (partition: number): string | undefined => ownership.ownerOf(partition)?.node;
    const directory = new RegistryDirectory(registry, cluster, nameOf);
    const level = this.#levelOf(cluster, () => (ownership.isHearing ? ownership.nodes() : []));
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
      addRefusal: (partition) => storageLow(this.#options.storageOf?.(partition)),
    });
    const open: OpenPartitions = new OpenPartitions({
      clock,
      ...this.#logs(count),
      broker: { ...this.#brokerOptions(count), level },
      partitions,
      count: cluster.homes,
      resumeMs,
      troubleOf: (partition) => this.#troubles.get(partition),
      isExpected: (partition) => ownership.ownerOf(partition)?.isSelf === true,
      onFailed: (partition, error) => ownership.fail(partition, error),
      onServed: (partition) => this.#served(partition),
    });
    const brokerOf = (partition: number): LocalBroker | undefined => open.brokerOf(partition);
    const figures = new Figures(clock, () => directory.partitions, brokerOf);
    const { node, version, leaseMs, standbyJobs, onSuperseded } = this.#options;
    const ownership: Ownership = new Ownership({
      ...{ registry, heartbeats: this.#options.heartbeats, clock, node, version, address },
      ...{ leaseMs, standbyJobs, onSuperseded },
      watched: [CLUSTER_KEY, KEYS_KEY, QUEUE_PREFIX],
      incarnation: this.#incarnation,
      level: this.#options.level,
      partitions: count,
      host: open,
      figures: (partition) => this.#told(partition, figures),
      nats: () => this.#options.nats?.().server,
      keysRead: () => this.keys.read,
      unreached: () => peers.unreached,
      onEntry: (entry) => this.#hear(entry, { directory, level }),
      onError: (partition, error) => this.#failed(partition, error),
    });
    const peers: Peers = new Peers({
      clock,
      node,
      living: () => this.#livingNodes(),
      dial,
    });
    const copies = new HomeCopies({
      clock,
      count: cluster.homes,
      portOf: (partition) => partitions.port(partition),
      brokerOf,
    });
    const router = new ClusterRouter({ directory, partitions });
    const own = new ClusterRouter({ directory, partitions: partitions.near() });
    const moves = this.#movesOf(directory, partitions, ownership);
    const parts = { ownership, directory, open, owners, partitions, figures, peers, copies, moves };
    return { cluster, router, own, level, ...parts };
  }

  /** What this node reports to the others about a partition. */
  #told(partition: number, figures: Figures) {
    const leader = this.#options.leaderOf?.(partition);
    const error = this.#troubles.get(partition)?.message.slice(0, ERROR_CHARS_MAX);
    return { ...figures.of(partition), leader, error };
  }

  #failed(partition: number | undefined, error: SluiceError): void {
    if (partition !== undefined) this.#troubles.set(partition, error);
    this.#options.onError?.(partition, error);
  }

  #levelOf({ level }: ClusterEntry, nodes: () => readonly Member[]): ClusterLevel {
    const { registry, onError, level: known = FEATURE_LEVEL } = this.#options;
    return new ClusterLevel({
      registry,
      clock: this.#clock,
      known,
      level,
      nodes,
      onRaised: () => this.#changed(),
      onError: (error) => onError?.(undefined, error),
    });
  }

  #movesOf(
    directory: RegistryDirectory,
    partitions: ServedPartitions,
    ownership: Ownership,
  ): QueueMoves {
    return new QueueMoves({
      clock: this.#clock,
      directory,
      calls: new PartitionCalls({ directory, partitions, clock: this.#clock }),
      isServed: (partition) =>
        ownership.isHearing && ownership.life(partition)?.state === "serving",
      onError: (error) => this.#options.onError?.(undefined, error),
      settleMs: this.#options.moveSettleMs,
    });
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
    open.checkReadable(partition);
    // Once it is served, calls go to its broker directly.
    await open.served(partition);
    throw moved(partition, "it is being opened");
  }

  #served(partition: number): void {
    this.#troubles.delete(partition);
    this.#started().copies.opened(partition);
  }

  #hear(entry: WatchedEntry, { directory, level }: Pick<Parts, "directory" | "level">): void {
    if (entry.key === KEYS_KEY) this.keys.hear(entry.revision);
    else if (entry.key === CLUSTER_KEY) {
      level.hear(entry.value);
      this.#grow(partitionsIn(entry.value) ?? 0);
    } else directory.hear(entry);
  }

  /** Partitions were added to the cluster. */
  #grow(partitions: number): void {
    this.#parts?.directory.grow(partitions);
    this.#parts?.ownership.grow(partitions);
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
    throw new SluiceError("RECOVERING", "the node is joining its cluster; try again shortly", {
      retryAfterMs: 500,
    });
  }
}
