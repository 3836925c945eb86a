/**
 * The feature level of the cluster: what all of its nodes understand. It is written in the entry
 * `cluster` and only rises. A node of an older release that starts later finds it there and ends.
 *
 * While it is below what this node understands, the node looks now and then. When all nodes have
 * understood more for `LEVEL_SETTLE_MS`, it raises the level; the registry lets one of them win.
 * A node that has died counts until it is forgotten: it may come back as it was.
 */
import { type FeatureLevel, releaseOf } from "@sluice/broker";
import { type Clock, SluiceError, type Timer, toSluiceError } from "@sluice/protocol";
import { LEVEL_CHECK_MS, LEVEL_SETTLE_MS } from "../limits.ts";
import type { Registry } from "../registry/registry.ts";
import { isConflict } from "../within.ts";
import { levelOf, raiseCluster } from "./cluster-entry.ts";
import type { Member } from "./members.ts";

export interface ClusterLevelOptions {
  readonly registry: Registry;
  readonly clock: Clock;
  /** What this node understands. */
  readonly known: number;
  /** What the cluster had when this node joined. */
  readonly level: number;
  /** All nodes that the registry has, the dead ones too; none while this node hears nothing. */
  readonly nodes: () => readonly Member[];
  readonly onRaised: () => void;
  readonly onError: (error: SluiceError) => void;
}

export class ClusterLevel implements FeatureLevel {
  readonly #options: ClusterLevelOptions;
  #level: number;
  /** The level that all understand, and since when. */
  #agreed = 0;
  #agreedAt = 0;
  #timer: Timer | undefined;
  #isOver = false;

  constructor(options: ClusterLevelOptions) {
    this.#options = options;
    this.#level = options.level;
  }

  get level(): number {
    return this.#level;
  }

  /** The nodes that understand no more than the cluster's level, with their releases. */
  behind(): string[] {
    const old = this.#options.nodes().filter(({ level = 1 }) => level <= this.#level);
    return old.map(({ id, version }) => `${id} (${version})`);
  }

  start(): void {
    if (this.#isOver || this.#level >= this.#options.known) return;
    const { clock } = this.#options;
    this.#timer = clock.at(clock.now() + LEVEL_CHECK_MS, () => void this.#look());
    this.#timer.unref?.();
  }

  stop(): void {
    this.#isOver = true;
    this.#timer?.cancel();
  }

  /** The cluster's entry has changed. */
  hear(text: string | undefined): void {
    const level = levelOf(text);
    if (level <= this.#level) return;
    this.#level = level;
    this.#options.onRaised();
  }

  async #look(): Promise<void> {
    const { clock, nodes, known, onError } = this.#options;
    const levels = nodes().map(({ level = 1 }) => level);
    const agreed = levels.length === 0 ? 0 : Math.min(known, ...levels);
    if (agreed !== this.#agreed) this.#agreedAt = clock.now();
    this.#agreed = agreed;
    const isSettled = clock.now() - this.#agreedAt >= LEVEL_SETTLE_MS;
    if (agreed > this.#level && isSettled) await this.#raise(agreed).catch(onError);
    this.start();
  }

  async #raise(level: number): Promise<void> {
    try {
      this.hear(await raiseCluster(this.#options.registry, level, releaseOf(level)));
    } catch (cause) {
      // Another node was faster, or the registry does not answer: the next look tries again.
      if (isConflict(cause)) return;
      const { code, message, details } = toSluiceError(cause);
      const text = `the feature level could not be raised to ${level}: ${message}`;
      throw new SluiceError(code, text, details, { cause });
    }
  }
}
