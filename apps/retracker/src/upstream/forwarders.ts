/** All forwarders: their list, which is changed without a restart, and their kept states. */
import { hash } from "node:crypto";
import type { Clock, Sluice, Store, Timer } from "sluice";
import { Forwarder, type KeptForwarder } from "./forwarder.ts";
import type { ForwarderSpec } from "./forwarder-list.ts";

export interface ForwardersOptions {
  readonly sluice: Sluice;
  readonly clock: Clock;
  /** A disabled forwarder is to be tried. */
  onProbe(forwarder: Forwarder): void;
  /** The forwarder takes no more announces. */
  onStopped(forwarder: Forwarder): void;
  /** The forwarder takes announces again, or is new. */
  onStarted(forwarder: Forwarder): void;
}

export class Forwarders {
  readonly #options: ForwardersOptions;
  readonly #store: Store<KeptForwarder>;
  readonly #byName = new Map<string, Forwarder>();
  readonly #probes = new Map<string, Timer>();
  readonly #kept = new Map<string, KeptForwarder>();
  #groups: readonly string[] = [];
  #all: readonly Forwarder[] = [];
  /** Rises whenever a forwarder may have become eligible. */
  version = 0;

  private constructor(options: ForwardersOptions) {
    this.#options = options;
    this.#store = options.sluice.store<KeptForwarder>("retracker.forwarders");
  }

  static async open(options: ForwardersOptions): Promise<Forwarders> {
    const forwarders = new Forwarders(options);
    for await (const { key, value } of forwarders.#store.scan()) forwarders.#kept.set(key, value);
    return forwarders;
  }

  get all(): readonly Forwarder[] {
    return this.#all;
  }

  find(name: string): Forwarder | undefined {
    return this.#byName.get(name);
  }

  /** Replaces the list. Those that stay keep their state, those that are gone lose their jobs. */
  async replace(specs: readonly ForwarderSpec[], groups: readonly string[]): Promise<void> {
    this.#groups = groups;
    const wanted = new Map(specs.filter((spec) => this.#isInGroups(spec)).map((s) => [s.name, s]));
    for (const [name, forwarder] of this.#byName) {
      if (wanted.has(name)) continue;
      this.#byName.delete(name);
      this.#cancelProbe(name);
      this.#options.onStopped(forwarder);
    }
    const setUp: Promise<unknown>[] = [];
    for (const spec of wanted.values()) setUp.push(this.#put(spec));
    this.#all = [...this.#byName.values()];
    this.version++;
    await Promise.all(setUp);
  }

  /** Keeps a state after it has changed; resolves when it is durable. */
  async save(forwarder: Forwarder): Promise<void> {
    await this.#store.put(forwarder.name, forwarder.toKept());
  }

  async disable(forwarder: Forwarder, reason: string, isProbe = false): Promise<void> {
    const { clock } = this.#options;
    if (!forwarder.disable(reason, clock.now(), isProbe)) return;
    this.#scheduleProbe(forwarder);
    this.#options.onStopped(forwarder);
    await this.save(forwarder);
  }

  async enable(forwarder: Forwarder): Promise<void> {
    forwarder.enable(this.#options.clock.now());
    this.#cancelProbe(forwarder.name);
    this.version++;
    this.#options.onStarted(forwarder);
    await this.save(forwarder);
  }

  async switchOff(forwarder: Forwarder): Promise<void> {
    forwarder.switchOff(this.#options.clock.now());
    this.#cancelProbe(forwarder.name);
    this.#options.onStopped(forwarder);
    await this.save(forwarder);
  }

  async suspend(forwarder: Forwarder, ms: number): Promise<void> {
    forwarder.suspend(this.#options.clock.now() + ms);
    await this.save(forwarder);
  }

  close(): void {
    for (const timer of this.#probes.values()) timer.cancel();
    this.#probes.clear();
  }

  #isInGroups({ groups }: ForwarderSpec): boolean {
    return this.#groups.length === 0 || groups.some((group) => this.#groups.includes(group));
  }

  async #put(spec: ForwarderSpec): Promise<void> {
    const known = this.#byName.get(spec.name);
    if (known === undefined) {
      const forwarder = new Forwarder(spec);
      const kept = this.#kept.get(spec.name);
      if (kept !== undefined) forwarder.restore(kept);
      this.#byName.set(spec.name, forwarder);
      if (forwarder.probeAt > 0) this.#scheduleProbe(forwarder);
    } else known.spec = spec;
    const gate = this.#options.sluice.gate(gateOf(spec.name));
    const { rate, concurrency } = spec;
    if (rate !== undefined || concurrency !== undefined) await gate.set({ rate, concurrency });
    else if (known !== undefined) await gate.set({});
  }

  #scheduleProbe(forwarder: Forwarder): void {
    this.#cancelProbe(forwarder.name);
    const timer = this.#options.clock.at(forwarder.probeAt, () => {
      forwarder.isProbeDue = true;
      this.version++;
      this.#options.onProbe(forwarder);
    });
    timer.unref?.();
    this.#probes.set(forwarder.name, timer);
  }

  #cancelProbe(name: string): void {
    this.#probes.get(name)?.cancel();
    this.#probes.delete(name);
  }
}

const GATE_NAME = /^[A-Za-z0-9._:-]{1,200}$/;

/**
 * The gate that every job of a forwarder names: its rate, its concurrency and its suspension. Gates
 * have plain names, forwarders any: then what is readable of it, and a hash of all.
 */
export function gateOf(name: string): string {
  if (GATE_NAME.test(name)) return `forwarder:${name}`;
  const readable = name.replace(/[^A-Za-z0-9.-]+/g, "_").slice(0, 100);
  return `forwarder:${readable}:${hash("sha1", name).slice(0, 16)}`;
}
