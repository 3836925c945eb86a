/** This node as others know it: its heartbeats, and its entry in the registry. */
import { type Clock, SluiceError, toSluiceError, wallTime } from "@sluice/protocol";
import type { Heartbeats } from "../heartbeats/heartbeats.ts";
import { DRAIN_ASK_MS, ENTRY_TRIES_MAX, FLOWING_MS, LEASE_MS, REGISTRY_MS_MAX } from "../limits.ts";
import type { Registry } from "../registry/registry.ts";
import { isConflict, within } from "../within.ts";
import {
  encodeBeat,
  encodeNodeEntry,
  NODE_PREFIX,
  type NodeEntry,
  type NodeName,
  type PartitionFigures,
  parseNodeEntry,
} from "./entries.ts";

export interface PresenceOptions {
  readonly registry: Registry;
  readonly heartbeats: Heartbeats;
  readonly clock: Clock;
  readonly name: NodeName;
  readonly address: string;
  readonly version: string;
  readonly level: number;
  readonly keysRead: () => number;
  readonly unreached: () => readonly string[];
  /** The NATS server that this node is connected to. */
  readonly nats?: (() => string | undefined) | undefined;
  /** The entry could not be renewed. Reported once, until one goes through again. */
  readonly onError: (error: SluiceError) => void;
  /** Another process has started under our name: the newer one stays. */
  readonly onSuperseded: (error: SluiceError) => void;
}

export class Presence {
  readonly #options: PresenceOptions;
  readonly #startedAt: number;
  #revision: number | undefined;
  #isDraining = false;
  #beat = 0;
  #isWritten = false;
  #renewing: Promise<void> | undefined;
  #isOver = false;
  /** Why the last renewal did not go through; undefined: it did. */
  error: SluiceError | undefined;
  /** When the last renewal that went through was sent. */
  renewedAt = Number.NEGATIVE_INFINITY;

  constructor(options: PresenceOptions) {
    this.#options = options;
    const { clock } = options;
    this.#startedAt = wallTime(clock);
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** Of the entry as it was written last; 0: it never was. */
  get revision(): number {
    return this.#revision ?? 0;
  }

  /** Renews the entry; one renewal at a time, and whether it went through shows in `renewedAt`. */
  renew(): Promise<void> {
    if (this.#isOver) return Promise.resolve();
    this.#renewing ??= this.#renew()
      .catch((error) => this.#failed(error))
      .finally(() => {
        this.#renewing = undefined;
      });
    return this.#renewing;
  }

  async drain(lives: readonly PartitionFigures[]): Promise<void> {
    this.#isDraining = true;
    this.beat(lives);
    await this.renew();
  }

  /** Tells the others that this node lives. A beat that is lost is followed by the next. */
  beat(lives: readonly PartitionFigures[]): void {
    if (this.#isOver) return;
    const { heartbeats, name } = this.#options;
    heartbeats.send(encodeBeat(name.node, this.#entryNow(lives))).catch(() => {});
  }

  /** The others need not wait for the lease to run out. */
  async leave(): Promise<void> {
    await this.#renewing;
    this.#isOver = true;
    if (this.#revision === undefined) return;
    const { registry, clock, heartbeats, name } = this.#options;
    const last = encodeBeat(name.node, this.#entryNow([]), true);
    heartbeats.send(last).catch(() => {});
    const gone = registry.delete(this.#key, this.#revision);
    await within(clock, REGISTRY_MS_MAX, gone).catch(() => {});
  }

  get isStopped(): boolean {
    return this.#isOver;
  }

  /** Nothing more is written: another one has our name, or the process is as good as dead. */
  stop(): void {
    this.#isOver = true;
  }

  get #key(): string {
    return NODE_PREFIX + this.#options.name.node;
  }

  async #renew(): Promise<void> {
    const { clock } = this.#options;
    for (let tries = 0; tries < ENTRY_TRIES_MAX && !this.#isOver; tries++) {
      const sentAt = clock.now();
      try {
        this.#revision = await within(clock, REGISTRY_MS_MAX, this.#write());
        this.#isWritten = true;
        this.error = undefined;
        this.renewedAt = sentAt;
        return;
      } catch (error) {
        if (!isConflict(error)) throw error;
        await within(clock, REGISTRY_MS_MAX, this.#adopt());
      }
    }
  }

  #failed(cause: unknown): void {
    const wasWell = this.error === undefined;
    const { code, message, details } = toSluiceError(cause);
    const text = `this node cannot say that it lives: ${message}`;
    this.error = new SluiceError(code, text, details, { cause });
    if (wasWell && !this.#isOver) this.#options.onError(this.error);
  }

  async #write(): Promise<number> {
    const { registry } = this.#options;
    const text = encodeNodeEntry(this.#entryNow([]));
    if (this.#revision === undefined) return registry.create(this.#key, text);
    return registry.update(this.#key, text, this.#revision);
  }

  #entryNow(lives: readonly PartitionFigures[]): NodeEntry {
    const { name, address, version, level, keysRead, unreached, nats, clock } = this.#options;
    const waits = clock.now() - this.renewedAt >= FLOWING_MS;
    return {
      address,
      incarnation: name.incarnation,
      version,
      level,
      startedAt: this.#startedAt,
      isDraining: this.#isDraining,
      beat: ++this.#beat,
      keysRead: keysRead(),
      unreached: unreached(),
      nats: nats?.(),
      ...(waits ? { registryWaits: true } : {}),
      lives,
    };
  }

  /** Our entry has another revision: a wish to drain, or our own write that seemed lost. */
  async #adopt(): Promise<void> {
    const { registry, name, onSuperseded } = this.#options;
    const found = await registry.get(this.#key);
    const entry = parseNodeEntry(found?.value);
    const isOurs = entry?.incarnation === name.incarnation;
    if (entry !== undefined && !isOurs && this.#isWritten) {
      this.#isOver = true;
      const message = `another process has started with the name ${name.node}: this one stops. Give each node its own --node`;
      return onSuperseded(new SluiceError("CONFLICT", message));
    }
    if (isOurs && entry.isDraining) this.#isDraining = true;
    this.#revision = found?.revision;
  }
}

/**
 * Asks a node to give its partitions away, by writing so into its entry. A beat of the node may
 * pass over that unseen: so it is asked until a later beat says it too. A node that is silent has
 * nothing to give away.
 */
export async function askToDrain(registry: Registry, clock: Clock, node: string): Promise<void> {
  const key = NODE_PREFIX + node;
  const endAt = clock.now() + LEASE_MS;
  let askedAt: number | undefined;
  do {
    const found = await registry.get(key);
    const entry = parseNodeEntry(found?.value);
    if (found === undefined || entry === undefined) {
      throw new SluiceError("NOT_FOUND", `there is no node ${node}`, { field: "node" });
    }
    const { beat, isDraining } = entry;
    if (isDraining && askedAt !== undefined && beat > askedAt) return;
    if (isDraining) askedAt ??= beat;
    else if (await askedOnce(registry, key, entry, found.revision)) askedAt = beat;
    await new Promise<void>((resolve) => clock.at(clock.now() + DRAIN_ASK_MS, resolve));
  } while (clock.now() < endAt);
  if (askedAt !== undefined) return;
  throw new SluiceError("TIMEOUT", `node ${node} did not confirm that it drains; try again`);
}

async function askedOnce(
  registry: Registry,
  key: string,
  entry: NodeEntry,
  revision: number,
): Promise<boolean> {
  try {
    await registry.update(key, encodeNodeEntry({ ...entry, isDraining: true }), revision);
    return true;
  } catch (error) {
    // The node itself has written meanwhile.
    if (isConflict(error)) return false;
    throw error;
  }
}
