/**
 * Which partitions this node owns. It writes its own entry at every beat, listens to all others,
 * and decides again whenever something has changed: what to take from the dead, what to hand over
 * to whom it belongs now, and when to stop for want of a proof that what it has is still its own.
 */
import { FEATURE_LEVEL } from "@sluice/broker";
import { type Clock, SluiceError, type Timer } from "@sluice/protocol";
import type { Heartbeats } from "../heartbeats/heartbeats.ts";
import {
  BEATS_PER_LEASE,
  CLAIMS_MAX,
  CLOSE_MS_MAX,
  FORGET_MS,
  LEASE_MS,
  MOVES_MAX,
  PROOF_SHARE,
  START_MS_MAX,
} from "../limits.ts";
import type { Registry, WatchedEntry } from "../registry/registry.ts";
import { keepTrying, within } from "../within.ts";
import {
  BeatReader,
  isSame,
  NODE_PREFIX,
  type NodeName,
  OWNER_PREFIX,
  type PartitionFigures,
} from "./entries.ts";
import { type Member, Members } from "./members.ts";
import { MoveList } from "./move-list.ts";
import { type PartitionHost, PartitionLife } from "./partition-life.ts";
import { Placement } from "./place.ts";
import { Presence } from "./presence.ts";
import { RegistryWatchdog } from "./registry-watchdog.ts";
import { Standbys } from "./standbys.ts";

export interface OwnershipOptions {
  readonly registry: Registry;
  readonly heartbeats: Heartbeats;
  readonly clock: Clock;
  readonly node: string;
  readonly incarnation: string;
  /** Where clients and other nodes reach this one. */
  readonly address: string;
  readonly version: string;
  /** What this node understands. */
  readonly level?: number | undefined;
  readonly partitions: number;
  readonly host: PartitionHost;
  readonly leaseMs?: number | undefined;
  /** Partitions with so many jobs have a standby. */
  readonly standbyJobs?: number | undefined;
  /** What this node reports about a partition beside its state. */
  readonly figures?: ((partition: number) => Told) | undefined;
  /** The NATS server that this node is connected to. */
  readonly nats?: (() => string | undefined) | undefined;
  /** Up to which change this node has read the keys. */
  readonly keysRead?: (() => number) | undefined;
  /** Nodes that this one cannot reach. */
  readonly unreached?: (() => readonly string[]) | undefined;
  /** What else is watched in the registry, and told: keys, and beginnings that end with a dot. */
  readonly watched?: readonly string[] | undefined;
  readonly onEntry?: ((entry: WatchedEntry) => void) | undefined;
  /** Of a partition, or of this node's own entry. */
  readonly onError?: ((partition: number | undefined, error: SluiceError) => void) | undefined;
  /** Another process has our name: this one has to end. */
  readonly onSuperseded?: ((error: SluiceError) => void) | undefined;
}

type Told = Pick<PartitionFigures, "lagMs" | "jobs" | "leader" | "error">;

export interface Owner {
  readonly node: string;
  readonly address: string;
  readonly epoch: number;
  readonly isSelf: boolean;
}

export class Ownership {
  readonly #options: OwnershipOptions;
  readonly #name: NodeName;
  readonly #leaseMs: number;
  readonly #members: Members;
  #placement: Placement;
  #standbys: Standbys;
  readonly #presence: Presence;
  readonly #beats = new BeatReader();
  readonly #lives: PartitionLife[] = [];
  readonly #listeners = new Set<() => void>();
  readonly #waits = new Set<() => void>();
  readonly #moves: MoveList;
  /** One watch for all: what is heard before our own beat was said before it. */
  readonly #watchdog: RegistryWatchdog;
  #beat: Timer | undefined;
  #unlisten: (() => void) | undefined;
  #isLooking = false;
  #mustLook = false;
  #told = "";
  #isOver = false;

  constructor(options: OwnershipOptions) {
    this.#options = options;
    const { node, incarnation, registry, heartbeats, clock, address, version } = options;
    const name = { node, incarnation };
    this.#name = name;
    this.#leaseMs = options.leaseMs ?? LEASE_MS;
    this.#members = new Members(name, this.#leaseMs);
    this.#moves = new MoveList(clock, this.#name);
    this.#placement = new Placement(options.partitions);
    this.#standbys = new Standbys(node, options.partitions, options.standbyJobs);
    const onSuperseded = (error: SluiceError): void => {
      options.onSuperseded?.(error);
      this.#look();
    };
    const { keysRead = () => 0, unreached = () => [] } = options;
    const onError = (error: SluiceError): void => options.onError?.(undefined, error);
    const { level = FEATURE_LEVEL } = options;
    const own = { registry, heartbeats, clock, name, address, version, level, onError };
    const { nats } = options;
    this.#presence = new Presence({ ...own, keysRead, unreached, nats, onSuperseded });
    const onEntry = (entry: WatchedEntry): void => this.#hear(entry);
    this.#watchdog = new RegistryWatchdog({
      ...{ registry, clock, leaseMs: this.#leaseMs, onEntry },
      keys: [OWNER_PREFIX, NODE_PREFIX + node, ...(options.watched ?? [])],
    });
    this.#addLives(options.partitions);
  }

  /** The cluster has more partitions from now on. No node owns them yet. */
  grow(partitions: number): void {
    if (partitions <= this.#lives.length) return;
    const { node, standbyJobs } = this.#options;
    this.#placement = new Placement(partitions);
    this.#standbys = new Standbys(node, partitions, standbyJobs);
    this.#addLives(partitions);
    this.#look();
  }

  #addLives(partitions: number): void {
    const { registry, clock, host, address, onError } = this.#options;
    const name = this.#name;
    for (let partition = this.#lives.length; partition < partitions; partition++) {
      const own = { partition, name, address, registry, clock, host };
      const onChange = (): void => this.#look();
      this.#lives.push(
        new PartitionLife({ ...own, onChange, onError: (at, error) => onError?.(at, error) }),
      );
    }
  }

  /** Resolves when the others can see this node; rejects when the registry cannot be reached. */
  async start(): Promise<void> {
    const { heartbeats } = this.#options;
    this.#unlisten = await keepTrying(this.#options.clock, START_MS_MAX, () =>
      heartbeats.listen((text) => this.#hearBeat(text)),
    );
    await this.#watchdog.start();
    await keepTrying(this.#options.clock, START_MS_MAX, () => this.#appear());
    this.#beatOn();
    this.#look();
  }

  async #appear(): Promise<void> {
    await this.#presence.renew();
    this.#presence.beat(this.#figures());
    if (this.#presence.renewedAt > Number.NEGATIVE_INFINITY) return;
    const message = "the node cannot write to the registry of the cluster; it tries again";
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

  get moves(): MoveList {
    return this.#moves;
  }

  /** Whether this node hears what is said in the registry. */
  get isHearing(): boolean {
    return this.#members.isHearing(this.#now());
  }

  /** Whether nodes at other NATS servers wait for the registry as well. */
  get waitsElsewhere(): boolean {
    return this.#members.waitsElsewhere(this.#now());
  }

  /** When the registry last took a write of ours, by the clock. */
  get renewedAt(): number {
    return this.#presence.renewedAt;
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
    this.#presence.beat(this.#figures());
  }

  /** Gives all partitions to other nodes. Resolves when none is left, or no node can take it. */
  async drain(): Promise<void> {
    await this.#presence.drain(this.#figures());
    this.#look();
    await this.#until(() => this.isEmpty || this.#isOver || !this.#hasHeirs());
  }

  #hasHeirs(): boolean {
    return this.#members.heirsOf(this.#name.node, this.#now()).length > 0;
  }

  /** Leaves in good order. Partitions that no node can take are left free. */
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
    this.#unlisten?.();
    for (const wait of [...this.#waits]) wait();
    this.#tell();
  }

  #now(): number {
    return this.#options.clock.now();
  }

  #hear(heard: WatchedEntry): void {
    const { key, value, revision } = heard;
    if (key === NODE_PREFIX + this.#name.node) {
      if (value !== undefined) this.#members.hearEntry(revision, this.#now());
    } else if (key.startsWith(OWNER_PREFIX)) {
      const life = this.#lives[Number(key.slice(OWNER_PREFIX.length))];
      life?.hear(value, revision);
      if (life !== undefined) this.#moves.note(life.partition, life.entry);
    } else return this.#options.onEntry?.(heard);
    this.#look();
  }

  /** In a large cluster these come by the hundred; the next tick looks at what time has changed. */
  #hearBeat(text: string): void {
    const beat = this.#beats.read(text);
    if (beat !== undefined && this.#members.hear(beat, this.#now())) this.#look();
  }

  /** Twice a beat, so that a death is seen soon; renewed at every other one. */
  #beatOn(): void {
    const { clock } = this.#options;
    const everyMs = this.#leaseMs / BEATS_PER_LEASE / 2;
    let ticks = 0;
    const tick = (): void => {
      if (this.#isOver) return;
      this.#beat = clock.at(clock.now() + everyMs, tick);
      if (ticks++ % 2 === 0) {
        void this.#presence.renew();
        this.#presence.beat(this.#figures());
      }
      this.#standbys.tick(this.#members, () => this.#owners(), this.#now());
      this.#watchdog.look(this.#presence.revision, this.#members.revision);
      this.#look();
    };
    this.#beat = clock.at(clock.now() + everyMs, tick);
  }

  #owners(): (string | undefined)[] {
    return this.#lives.map(({ partition }) => this.ownerOf(partition)?.node);
  }

  #figures(): PartitionFigures[] {
    return this.#lives.flatMap((life) => {
      const { partition, state, openMs } = life;
      const told = this.#options.figures?.(partition) ?? { lagMs: 0, jobs: 0 };
      const isTold = isActive(life) || (life.isOurs && told.error !== undefined);
      return isTold ? [{ partition, state, openMs, ...told }] : [];
    });
  }

  /** Decides again. What changes in between is looked at right after. */
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
    return JSON.stringify([lives, nodes, this.isHearing, this.#isOver]);
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
        if (isHearing) this.#moveOn(life, this.#targetOf(life, placement, now), now);
        return;
      case "resting":
        if (life.isBroken || !life.isOurs) life.lose();
        return;
      case "standby":
        if (life.isHeld) return life.cool();
        if (life.isOurs) return life.claim();
        if (isTarget && !this.#hasLiveOwner(life, now)) return this.#claim(life);
        if (this.#isPromisedToUs(life, now)) return life.warm();
        if (isHearing && !this.#standbys.isOurs(life.partition)) life.cool();
        return;
      case "warming":
        if (life.isOurs) return life.claim();
        if (!this.#isPromisedToUs(life, now)) life.cool();
        return;
      case "away":
        if (now < life.retryAt || this.#presence.isStopped || life.isHeld) return;
        if (life.isOurs) life.claim();
        else if (isTarget && !this.#hasLiveOwner(life, now)) this.#claim(life);
        else if (isHearing && this.#isPromisedToUs(life, now)) life.warm();
        else if (isHearing && this.#standbys.isOurs(life.partition)) life.standBy();
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

  /** To whom a partition that we serve should go. */
  #targetOf(life: PartitionLife, placement: readonly string[], now: number): string | undefined {
    const { node } = this.#name;
    if (this.#isStuck(life)) {
      return this.#members.refugeFrom(node, life.entry?.next?.node, now) ?? node;
    }
    const target = placement[life.partition];
    return target !== life.entry?.from || !life.isRefuge(now) ? target : node;
  }

  /** Whether its log has confirmed nothing for as long as a node may be silent. */
  #isStuck({ partition }: PartitionLife): boolean {
    return (this.#options.figures?.(partition).lagMs ?? 0) >= this.#leaseMs;
  }

  /** Hands over what belongs to another node now: that one reads ahead, then it gets it. */
  #moveOn(life: PartitionLife, target: string | undefined, now: number): void {
    const next = target === undefined ? undefined : this.#members.nameOf(target);
    if (next === undefined || next.node === this.#name.node) {
      if (life.isPromised) life.promise(undefined);
    } else if (!isSame(life.entry?.next, next)) {
      const promised = this.#lives.filter(({ isPromised }) => isPromised).length;
      if (life.isPromised || promised < MOVES_MAX) life.promise(next);
    } else if (this.#isStuck(life)) {
      if (life.isNextReady) life.giveUp(next, this.#members.addressOf(next.node) ?? "");
    } else if (life.isNextDue(now) && !this.#lives.some(({ state }) => state === "leaving")) {
      life.handOver(next, this.#members.addressOf(next.node) ?? "");
    }
  }

  /** The first of the living clears away what has been dead for long. */
  #forgetDead(now: number): void {
    if (this.#members.placeable(now)[0] !== this.#name.node) return;
    for (const { id, isAlive, silentMs } of this.#members.all(now)) {
      if (isAlive || silentMs < FORGET_MS) continue;
      this.#members.forget(id);
      void this.#deleteEntry(id).catch(() => {});
    }
  }

  async #deleteEntry(id: string): Promise<void> {
    const { registry } = this.#options;
    const found = await registry.get(NODE_PREFIX + id);
    if (found !== undefined) await registry.delete(NODE_PREFIX + id, found.revision);
  }

  #tell(): void {
    for (const listener of [...this.#listeners]) listener();
  }

  /** Asked after every look: a step that failed may leave all as it was before it began. */
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
  return state !== "away" && state !== "standby" && state !== "warming";
}
