// Several nodes in simulated time: a registry that answers late or not at all, nodes that freeze,
// die or are cut off, clocks that are minutes apart, and logs that fence as JetStream does.

import { setImmediate } from "node:timers/promises";
import { type Clock, SluiceError, type Timer } from "@sluice/protocol";
import type { Heartbeats } from "../heartbeats/heartbeats.ts";
import { Ownership } from "../node/ownership.ts";
import type { PartitionHost } from "../node/partition-life.ts";
import { isWatched, type Registry, type WatchedEntry } from "../registry/registry.ts";

export interface SimOptions {
  readonly partitions: number;
  readonly seed: number;
  // A log without a fence: the checks must see what it lets through.
  readonly isUnfenced?: boolean;
  readonly openMs?: number;
  // Jobs in each partition, and how long it takes to read them; a standby has read them.
  readonly jobs?: number;
  readonly readMs?: number;
}

interface Event {
  readonly time: number;
  readonly run: () => void;
  isCancelled: boolean;
}

export interface Confirmation {
  readonly partition: number;
  readonly node: string;
  readonly fence: number;
  readonly time: number;
}

// Confirmations are tried this often on every partition that a node serves.
const LOAD_MS = 50;

export class SimCluster {
  readonly options: SimOptions;
  readonly nodes = new Map<string, SimNode>();
  readonly confirmations: Confirmation[] = [];
  readonly fences: number[];
  readonly #store = new Map<string, { value: string; revision: number }>();
  readonly beats = new Set<(beat: string) => void>();
  readonly #watchers: ((entry: WatchedEntry) => void)[] = [];
  #revision = 0;
  // The next one last; of one time, the first made.
  readonly #events: Event[] = [];
  #state: number;
  now = 0;
  refused = 0;

  constructor(options: SimOptions) {
    this.options = options;
    this.#state = options.seed * 2654435761 + 1;
    this.fences = new Array(options.partitions).fill(0);
  }

  random(): number {
    this.#state = (Math.imul(this.#state, 1664525) + 1013904223) >>> 0;
    return this.#state / 2 ** 32;
  }

  at(time: number, run: () => void): Timer {
    const event = { time: Math.max(time, this.now), run, isCancelled: false };
    let [low, high] = [0, this.#events.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#events[middle]!.time > event.time) low = middle + 1;
      else high = middle;
    }
    this.#events.splice(low, 0, event);
    return {
      cancel: () => {
        event.isCancelled = true;
      },
    };
  }

  async run(ms: number): Promise<void> {
    const until = this.now + ms;
    // What was just begun has not asked for anything yet.
    await setImmediate();
    while (this.#events.length > 0 && this.#events.at(-1)!.time <= until) {
      const next = this.#events.pop()!;
      if (next.isCancelled) continue;
      this.now = next.time;
      next.run();
      await setImmediate();
    }
    this.now = until;
  }

  async add(id: string): Promise<SimNode> {
    const node = new SimNode(this, id);
    this.nodes.set(id, node);
    void node.start();
    return node;
  }

  // Which nodes serve a partition as far as they know.
  serving(partition: number): string[] {
    const nodes = [...this.nodes.values()].filter((node) => node.isServing(partition));
    return nodes.map(({ id }) => id);
  }

  // The registry itself

  get(key: string): { value: string; revision: number } | undefined {
    return this.#store.get(key);
  }

  write(key: string, value: string | undefined, revision: number): number {
    if ((this.#store.get(key)?.revision ?? 0) !== revision) {
      throw new SluiceError("CONFLICT", `${key} was changed`);
    }
    return this.#set(key, value);
  }

  #set(key: string, value: string | undefined): number {
    const next = ++this.#revision;
    if (value === undefined) this.#store.delete(key);
    else this.#store.set(key, { value, revision: next });
    for (const tell of this.#watchers) tell({ key, value, revision: next });
    return next;
  }

  watch(tell: (entry: WatchedEntry) => void): () => void {
    const first = [...this.#store].sort(([, a], [, b]) => a.revision - b.revision);
    for (const [key, { value, revision }] of first) tell({ key, value, revision });
    this.#watchers.push(tell);
    return () => void this.#watchers.splice(this.#watchers.indexOf(tell), 1);
  }

  // The log: only the node that fenced last may write.

  fence(partition: number): number {
    return ++this.fences[partition]!;
  }

  append(partition: number, node: string, fence: number): void {
    if (fence !== this.fences[partition] && this.options.isUnfenced !== true) {
      this.refused++;
      throw new SluiceError("LOG_FAILED", `partition ${partition} has another owner`);
    }
    this.confirmations.push({ partition, node, fence, time: this.now });
  }
}

export class SimNode implements Clock, Registry, Heartbeats, PartitionHost {
  readonly id: string;
  readonly ownership: Ownership;
  readonly #sim: SimCluster;
  readonly #skewMs: number;
  readonly #fences = new Map<number, number>();
  readonly #resting = new Set<number>();
  // Partitions whose logs it has read along.
  readonly #read = new Set<number>();
  readonly #waiting: (() => void)[] = [];
  #heardAt = 0;
  #beatAt = 0;
  // How many watches were opened, and up to which of them no entry is delivered any more.
  #watches = 0;
  #deafTo = 0;
  isFrozen = false;
  isDead = false;
  isCutOff = false;

  constructor(sim: SimCluster, id: string) {
    this.#sim = sim;
    this.id = id;
    // Minutes apart, to and fro.
    this.#skewMs = Math.floor((sim.random() - 0.5) * 20 * 60_000) + 10 ** 9;
    this.ownership = new Ownership({
      registry: this,
      heartbeats: this,
      clock: this,
      node: id,
      incarnation: `${id}-${sim.now}-${sim.random()}`,
      address: `http://${id}`,
      version: "sim",
      partitions: sim.options.partitions,
      host: this,
      figures: () => ({ lagMs: 0, jobs: sim.options.jobs ?? 0 }),
    });
  }

  async start(): Promise<void> {
    await this.ownership.start();
    const load = (): void => {
      if (this.isDead) return;
      this.at(this.now() + LOAD_MS, load);
      for (const partition of this.#fences.keys()) this.#confirm(partition);
    };
    load();
  }

  kill(): void {
    this.isDead = true;
    this.#waiting.length = 0;
    this.#fences.clear();
    this.ownership.stop();
  }

  freeze(): void {
    this.isFrozen = true;
  }

  thaw(): void {
    this.isFrozen = false;
    this.#goOn();
  }

  // From the registry and the watch, not from the logs.
  cutOff(): void {
    this.isCutOff = true;
  }

  heal(): void {
    this.isCutOff = false;
    this.#goOn();
  }

  // Whatever it watches dies without a word; what it watches from now on is well.
  deafen(): void {
    this.#deafTo = this.#watches;
  }

  isServing(partition: number): boolean {
    return !this.isDead && this.#fences.has(partition) && !this.#resting.has(partition);
  }

  #confirm(partition: number): void {
    if (!this.isServing(partition)) return;
    try {
      this.#sim.append(partition, this.id, this.#fences.get(partition)!);
    } catch (error) {
      this.#fences.delete(partition);
      this.ownership.fail(partition, error as SluiceError);
    }
  }

  // The clock of this node

  now(): number {
    return this.#sim.now + this.#skewMs;
  }

  at(time: number, callback: () => void): Timer {
    let isCancelled = false;
    const timer = this.#sim.at(time - this.#skewMs, () =>
      this.#when(
        () => this.isFrozen,
        () => {
          if (!isCancelled) callback();
        },
      ),
    );
    return {
      cancel: () => {
        isCancelled = true;
        timer.cancel();
      },
    };
  }

  // What cannot happen now happens when it can.
  #when(isHeld: () => boolean, run: () => void): void {
    if (this.isDead) return;
    if (isHeld()) this.#waiting.push(() => this.#when(isHeld, run));
    else run();
  }

  #goOn(): void {
    for (const run of this.#waiting.splice(0)) run();
  }

  // The registry as this node reaches it

  async get(key: string): Promise<{ value: string; revision: number } | undefined> {
    return this.#ask(() => this.#sim.get(key));
  }

  async create(key: string, value: string): Promise<number> {
    return this.#ask(() => this.#sim.write(key, value, 0));
  }

  async update(key: string, value: string, revision: number): Promise<number> {
    return this.#ask(() => this.#sim.write(key, value, revision));
  }

  async delete(key: string, revision: number): Promise<void> {
    await this.#ask(() => this.#sim.write(key, undefined, revision));
  }

  async watch(
    keys: readonly string[],
    onEntry: (entry: WatchedEntry) => void,
  ): Promise<() => void> {
    const sim = this.#sim;
    const number = ++this.#watches;
    return sim.watch((entry) => {
      // Late, but in order.
      this.#heardAt = Math.max(this.#heardAt, sim.now + 1 + sim.random() * 10);
      const isHeld = (): boolean => this.isFrozen || this.isCutOff;
      const hear = (): void => {
        if (number > this.#deafTo && isWatched(entry.key, keys)) onEntry(entry);
      };
      sim.at(this.#heardAt, () => this.#when(isHeld, hear));
    });
  }

  // Heartbeats: what is sent while it is cut off is lost, and so is what would be heard.

  async send(beat: string): Promise<void> {
    if (this.isDead || this.isCutOff) return;
    for (const hear of this.#sim.beats) hear(beat);
  }

  async listen(onBeat: (beat: string) => void): Promise<() => void> {
    const sim = this.#sim;
    const hear = (beat: string): void => {
      if (this.isCutOff) return;
      this.#beatAt = Math.max(this.#beatAt, sim.now + 1 + sim.random() * 10);
      sim.at(this.#beatAt, () =>
        this.#when(
          () => this.isFrozen,
          () => onBeat(beat),
        ),
      );
    };
    sim.beats.add(hear);
    return () => void sim.beats.delete(hear);
  }

  async close(partition?: number): Promise<void> {
    if (partition === undefined) return;
    this.#resting.add(partition);
    await this.#sleep(5);
    this.#fences.delete(partition);
  }

  #ask<T>(act: () => T): Promise<T> {
    const sim = this.#sim;
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    sim.at(sim.now + 1 + sim.random() * 10, () => {
      if (this.isDead || (this.isCutOff && sim.random() < 0.5)) return;
      let answer: () => void;
      try {
        const result = act();
        answer = () => resolve(result);
      } catch (error) {
        answer = () => reject(error);
      }
      // Cut off, it was done all the same, and the answer is lost.
      sim.at(sim.now + 1 + sim.random() * 10, () => {
        if (!this.isCutOff) this.#when(() => this.isFrozen, answer);
      });
    });
    return promise;
  }

  // What opens partitions

  async warm(partition: number): Promise<void> {
    if (!this.#read.has(partition)) await this.#sleep(100);
    this.#read.add(partition);
  }

  async standBy(partition: number): Promise<void> {
    await this.#sleep(this.#sim.options.readMs ?? 0);
    this.#read.add(partition);
  }

  cool(partition: number): void {
    this.#read.delete(partition);
  }

  async open(partition: number): Promise<void> {
    const fence = this.#sim.fence(partition);
    const { openMs = 60, readMs = 0 } = this.#sim.options;
    await this.#sleep(this.#read.delete(partition) ? openMs : openMs + readMs);
    this.#resting.delete(partition);
    this.#fences.set(partition, fence);
  }

  rest(partition: number): void {
    this.#resting.add(partition);
  }

  resume(partition: number): void {
    this.#resting.delete(partition);
  }

  anchorOf(): undefined {}

  async prove(partition: number): Promise<void> {
    await this.#sleep(5);
    const fence = this.#fences.get(partition);
    if (fence !== this.#sim.fences[partition]) throw new SluiceError("LOG_FAILED", "fenced");
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.at(this.now() + ms, resolve));
  }
}
