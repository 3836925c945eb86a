/**
 * Which partitions this node owns. It writes its own entry at every beat, listens to all others,
 * and decides again whenever something has changed: what to take from the dead, what to hand over
 * to whom it belongs now, and when to stop for want of a proof that what it has is still its own.
 */
import { type Clock, SluiceError, type Timer, wallTime } from "@sluice/protocol";
import {
  BEATS_PER_LEASE,
  CLAIMS_MAX,
  CLOSE_MS_MAX,
  FORGET_MS,
  LEASE_MS,
  MOVES_KEPT,
  MOVES_MAX,
  PROOF_SHARE,
  START_MS_MAX,
} from "../limits.ts";
import type { Registry, WatchedEntry } from "../registry/registry.ts";
import { keepTrying, within } from "../within.ts";
import {
  ANCHOR_PREFIX,
  isSame,
  NODE_PREFIX,
  type NodeName,
  OWNER_PREFIX,
  type OwnerEntry,
  type PartitionFigures,
  parseNodeEntry,
} from "./entries.ts";
import { type Member, Members } from "./members.ts";
import { type PartitionHost, PartitionLife } from "./partition-life.ts";
import { Placement } from "./place.ts";
import { Presence } from "./presence.ts";
import { RegistryWatchdog } from "./registry-watchdog.ts";

export interface OwnershipOptions {
  readonly registry: Registry;
  readonly clock: Clock;
  readonly node: string;
  readonly incarnation: string;
  /** Where clients and other nodes reach this one. */
  readonly address: string;
  readonly version: string;
  readonly partitions: number;
  readonly host: PartitionHost;
  readonly leaseMs?: number | undefined;
  /** What is told of a partition beside its state. */
  readonly figures?: ((partition: number) => { lagMs: number; jobs: number }) | undefined;
  /** Up to which change this node has read the keys. */
  readonly keysRead?: (() => number) | undefined;
  /** Nodes that this one cannot reach. */
  readonly unreached?: (() => readonly string[]) | undefined;
  /** Told of entries that are not about nodes and owners. */
  readonly onEntry?: ((entry: WatchedEntry) => void) | undefined;
  /** Of a partition, or of this node's own entry. */
  readonly onError?: ((partition: number | undefined, error: SluiceError) => void) | undefined;
  /** Another process has our name: this one has to end. */
  readonly onSuperseded?: ((error: SluiceError) => void) | undefined;
}

export interface Owner {
  readonly node: string;
  readonly address: string;
  readonly epoch: number;
  readonly isSelf: boolean;
}

/** A partition has got another owner. */
export interface Move {
  readonly partition: number;
  readonly from: string;
  readonly to: string;
  readonly epoch: number;
  /** Handed over, or taken from a node that was gone. */
  readonly isHandedOver: boolean;
  /** Wall time at which this node heard of it. */
  readonly at: number;
}

export class Ownership {
  readonly #options: OwnershipOptions;
  readonly #name: NodeName;
  readonly #leaseMs: number;
  readonly #members: Members;
  readonly #placement: Placement;
  readonly #presence: Presence;
  readonly #lives: readonly PartitionLife[];
  readonly #listeners = new Set<() => void>();
  readonly #waits = new Set<() => void>();
  readonly #moves: Move[] = [];
  /** One watch for all: what is heard before our own beat was said before it. */
  readonly #watchdog: RegistryWatchdog;
  #beat: Timer | undefined;
  #isLooking = false;
  #mustLook = false;
  #told = "";
  #isOver = false;

  constructor(options: OwnershipOptions) {
    this.#options = options;
    const { node, incarnation, registry, clock, address, version, host } = options;
    const name = { node, incarnation };
    this.#name = name;
    this.#leaseMs = options.leaseMs ?? LEASE_MS;
    this.#members = new Members(name, this.#leaseMs);
    this.#placement = new Placement(options.partitions);
    const onSuperseded = (error: SluiceError): void => {
      options.onSuperseded?.(error);
      this.#look();
    };
    const { keysRead = () => 0, unreached = () => [] } = options;
    const onError = (error: SluiceError): void => options.onError?.(undefined, error);
    const own = { registry, clock, name, address, version, onError };
    this.#presence = new Presence({ ...own, keysRead, unreached, onSuperseded });
    const onEntry = (entry: WatchedEntry): void => this.#hear(entry);
    this.#watchdog = new RegistryWatchdog({ registry, clock, leaseMs: this.#leaseMs, onEntry });
    this.#lives = Array.from(
      { length: options.partitions },
      (_, partition) =>
        new PartitionLife({
          partition,
          name,
          address,
          registry,
          clock,
          host,
          onChange: () => this.#look(),
          onError: (at, error) => options.onError?.(at, error),
        }),
    );
  }

  /** Resolves when the others can see this node; rejects when the registry cannot be reached. */
  async start(): Promise<void> {
    await this.#watchdog.start();
    await keepTrying(this.#options.clock, START_MS_MAX, () => this.#appear());
    this.#beatOn();
    this.#look();
  }

  async #appear(): Promise<void> {
    await this.#presence.renew(this.#figures());
    if (this.#presence.renewedAt > Number.NEGATIVE_INFINITY) return;
    const message = "the registry of the cluster cannot be written to";
    throw this.#presence.error ?? new SluiceError("DISCONNECTED", message);
  }

  /** Calls back when an owner, a node or a placement has changed. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  ownerOf(partition: number): Owner | undefined {
    const entry = this.#lives[partition]?.entry;
    if (entry === undefined || entry.node === "") return undefined;
    const { node, address, epoch } = entry;
    return { node, address, epoch, isSelf: isSame(entry, this.#name) };
  }

  life(partition: number): PartitionLife | undefined {
    return this.#lives[partition];
  }

  nodes(): Member[] {
    return this.#members.all(this.#now());
  }

  /** The latest last. */
  moves(): readonly Move[] {
    return this.#moves;
  }

  get isDraining(): boolean {
    return this.#presence.isDraining;
  }

  /** Whether this node hears what is said in the registry. */
  get isHearing(): boolean {
    return this.#members.isHearing(this.#now());
  }

  /** Whether there is nothing left here that others would miss. */
  get isEmpty(): boolean {
    return this.#lives.every((life) => !life.isOurs && !isActive(life));
  }

  /** The log of a partition has failed. */
  fail(partition: number, error: SluiceError): void {
    this.#lives[partition]?.fail(error);
  }

  /** Writes the own entry now, for something in it has changed. */
  tellNow(): void {
    void this.#presence.renew(this.#figures()).then(() => this.#presence.renew(this.#figures()));
  }

  /** Gives all partitions to other nodes; resolves when none is left here, or nobody to take it. */
  async drain(): Promise<void> {
    await this.#presence.drain(this.#figures());
    this.#look();
    await this.#until(() => this.isEmpty || this.#isOver || !this.#hasHeirs());
  }

  #hasHeirs(): boolean {
    return this.#members.heirsOf(this.#name.node, this.#now()).length > 0;
  }

  /** Leaves in good order; what nobody can take is left free. */
  async close({ timeout = 10_000 } = {}): Promise<void> {
    if (this.#isOver) return;
    const { clock } = this.#options;
    if (this.#hasHeirs()) await within(clock, timeout, this.drain()).catch(() => {});
    this.#isOver = true;
    this.#beat?.cancel();
    for (const life of this.#lives) life.stopWarming();
    // What is still being opened by then is as good as free: its owner is about to be gone.
    const idle = this.#until(() => this.#lives.every(({ isBusy }) => !isBusy));
    await within(clock, CLOSE_MS_MAX, idle).catch(() => {});
    const left = this.#lives.filter(({ isOurs, isBusy }) => isOurs && !isBusy);
    for (const life of left) life.handOver(undefined, "");
    await this.#until(() => left.every(({ isBusy }) => !isBusy));
    await this.#presence.leave();
    this.stop();
  }

  /** As if the process had died: nothing more is said. */
  stop(): void {
    this.#isOver = true;
    this.#beat?.cancel();
    this.#presence.stop();
    this.#watchdog.stop();
    for (const wait of [...this.#waits]) wait();
    this.#tell();
  }

  #now(): number {
    return this.#options.clock.now();
  }

  #hear(heard: WatchedEntry): void {
    const { key, value, revision } = heard;
    if (key.startsWith(NODE_PREFIX)) {
      const id = key.slice(NODE_PREFIX.length);
      // In a large cluster these come by the hundred; the next tick looks at what time has changed.
      if (!this.#members.hear(id, parseNodeEntry(value), revision, this.#now())) return;
    } else if (key.startsWith(OWNER_PREFIX)) {
      const life = this.#lives[Number(key.slice(OWNER_PREFIX.length))];
      const before = life?.entry;
      life?.hear(value, revision);
      if (life !== undefined) this.#noteMove(life.partition, before, life.entry);
    } else if (key.startsWith(ANCHOR_PREFIX)) return;
    else return this.#options.onEntry?.(heard);
    this.#look();
  }

  #noteMove(partition: number, before?: OwnerEntry, after?: OwnerEntry): void {
    if (after === undefined || after.node === "" || after.epoch === before?.epoch) return;
    const { clock } = this.#options;
    const { node: to, epoch, from = "", isHandedOver = false } = after;
    if (from === to) return;
    const at = wallTime(clock);
    this.#moves.push({ partition, from, to, epoch, isHandedOver, at });
    if (this.#moves.length > MOVES_KEPT) this.#moves.shift();
  }

  /** Twice a beat, so that a death is seen soon; renewed at every other one. */
  #beatOn(): void {
    const { clock } = this.#options;
    const everyMs = this.#leaseMs / BEATS_PER_LEASE / 2;
    let ticks = 0;
    const tick = (): void => {
      if (this.#isOver) return;
      this.#beat = clock.at(clock.now() + everyMs, tick);
      if (ticks++ % 2 === 0) void this.#presence.renew(this.#figures());
      this.#watchdog.look(this.#presence.revision, this.#members.revisionOf(this.#name.node));
      this.#look();
    };
    this.#beat = clock.at(clock.now() + everyMs, tick);
  }

  #figures(): PartitionFigures[] {
    const active = this.#lives.filter(isActive);
    return active.map(({ partition, state, openMs }) => {
      const { lagMs, jobs } = this.#options.figures?.(partition) ?? { lagMs: 0, jobs: 0 };
      return { partition, state, lagMs, jobs, openMs };
    });
  }

  /** Decides anew; what changes in between is looked at right after. */
  #look(): void {
    this.#mustLook = true;
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      while (this.#mustLook) {
        this.#mustLook = false;
        this.#lookOnce();
      }
    } finally {
      this.#isLooking = false;
    }
    for (const wait of [...this.#waits]) wait();
    const shape = this.#shape();
    if (shape === this.#told) return;
    this.#told = shape;
    this.#tell();
  }

  /** All that others may want to hear of, in one text. */
  #shape(): string {
    const lives = this.#lives.map(({ state, isBusy, entry }) => [
      state,
      isBusy,
      entry?.node,
      entry?.epoch,
    ]);
    const nodes = this.nodes().map(({ id, isAlive, isDraining, keysRead }) => [
      id,
      isAlive,
      isDraining,
      keysRead,
    ]);
    return JSON.stringify([lives, nodes, this.#isOver]);
  }

  #lookOnce(): void {
    const now = this.#now();
    const isHearing = this.#members.isHearing(now);
    const placement = this.#placement.of(this.#members.placeable(now));
    for (const life of this.#lives) this.#keep(life, now, isHearing);
    if (!this.#isOver) {
      for (const life of this.#lives) this.#decide(life, placement, now, isHearing);
      if (isHearing) this.#forgetDead(now);
    }
  }

  /** Whether what is served may still be served. */
  #keep(life: PartitionLife, now: number, isHearing: boolean): void {
    const isServing = life.state === "serving";
    if (!isServing && life.state !== "resting") return;
    const { renewedAt } = this.#presence;
    const provenMs = now - Math.max(renewedAt, life.provenAt);
    if (provenMs > this.#leaseMs / 3) life.prove();
    const isProven = provenMs <= this.#leaseMs * PROOF_SHARE;
    if (isServing && isProven) life.note();
    if (isServing && !isProven) life.rest();
    const isLogProof = life.provenAt > renewedAt;
    // A renewal proves it only when all that was said before it was heard.
    if (!isServing && isProven && (isLogProof || isHearing) && life.isOurs) life.resume();
  }

  #decide(
    life: PartitionLife,
    placement: readonly string[],
    now: number,
    isHearing: boolean,
  ): void {
    if (life.isBusy) return;
    const isTarget = placement[life.partition] === this.#name.node && isHearing;
    switch (life.state) {
      case "serving":
        if (life.isBroken || !life.isOurs) return life.lose();
        if (isHearing) this.#moveOn(life, placement[life.partition], now);
        return;
      case "resting":
        if (life.isBroken || !life.isOurs) life.lose();
        return;
      case "warming":
        if (life.isOurs) return life.claim();
        if (!this.#isPromisedToUs(life, now)) life.cool();
        return;
      case "away":
        if (now < life.retryAt || this.#presence.isStopped) return;
        if (life.isOurs) life.claim();
        else if (isTarget && !this.#hasLiveOwner(life, now)) this.#claim(life);
        else if (isHearing && this.#isPromisedToUs(life, now)) life.warm();
    }
  }

  /** A few at once: the others when these are done. */
  #claim(life: PartitionLife): void {
    const claimed = this.#lives.filter(({ state, isBusy }) => state === "away" && isBusy);
    if (claimed.length < CLAIMS_MAX) life.claim();
  }

  #hasLiveOwner({ entry }: PartitionLife, now: number): boolean {
    return entry !== undefined && entry.node !== "" && this.#members.isAlive(entry, now);
  }

  #isPromisedToUs(life: PartitionLife, now: number): boolean {
    return isSame(life.entry?.next, this.#name) && this.#hasLiveOwner(life, now);
  }

  /** Hands over what belongs to another node now: that one reads ahead, then it gets it. */
  #moveOn(life: PartitionLife, target: string | undefined, now: number): void {
    const next = target === undefined ? undefined : this.#members.nameOf(target);
    if (next === undefined || next.node === this.#name.node) {
      if (life.isPromised) life.promise(undefined);
    } else if (!isSame(life.entry?.next, next)) {
      const promised = this.#lives.filter(({ isPromised }) => isPromised).length;
      if (life.isPromised || promised < MOVES_MAX) life.promise(next);
    } else if (life.isNextDue(now) && !this.#lives.some(({ state }) => state === "leaving")) {
      life.handOver(next, this.#members.addressOf(next.node) ?? "");
    }
  }

  /** The first of the living clears away what has been dead for long. */
  #forgetDead(now: number): void {
    if (this.#members.placeable(now)[0] !== this.#name.node) return;
    for (const { id, isAlive, silentMs, revision } of this.#members.all(now)) {
      if (isAlive || silentMs < FORGET_MS) continue;
      this.#members.hear(id, undefined, revision, now);
      this.#options.registry.delete(NODE_PREFIX + id, revision).catch(() => {});
    }
  }

  #tell(): void {
    for (const listener of [...this.#listeners]) listener();
  }

  /** Asked after every look: a step that failed may leave all as it was told before it began. */
  async #until(isDone: () => boolean): Promise<void> {
    if (isDone()) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const wait = (): void => {
      if (isDone()) resolve();
    };
    this.#waits.add(wait);
    await promise;
    this.#waits.delete(wait);
  }
}

function isActive({ state }: PartitionLife): boolean {
  return state !== "away" && state !== "warming";
}
