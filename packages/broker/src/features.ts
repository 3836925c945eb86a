import type { Engine } from "@sluice/engine";
import { SluiceError } from "@sluice/protocol";
import { FEATURE_LEVEL, releaseOf } from "./codec/levels.ts";

/** From here on jobs wait for others: new fields of records, and facts of their own. */
export const FLOW_LEVEL = 2;

/** Ordered jobs have flags that older releases cannot read. */
export const ORDERED_LEVEL = 2;

/** What all who may read the log understand. */
export interface FeatureLevel {
  readonly level: number;
  /** Nodes that keep it from rising, as people call them. */
  behind(): readonly string[];
}

/** A broker that has its log to itself. */
export const OWN_LEVEL: FeatureLevel = { level: FEATURE_LEVEL, behind: () => [] };

/** Which facts may be written: the level that the log has, and the one that it may have. */
export class Features {
  readonly #engine: Engine;
  readonly #allowed: FeatureLevel;
  readonly #now: () => number;

  constructor(engine: Engine, allowed: FeatureLevel, now: () => number) {
    this.#engine = engine;
    this.#allowed = allowed;
    this.#now = now;
  }

  /** Writes the level that is allowed by now to the log, before any fact that needs it. */
  raise(): void {
    const level = Math.min(this.#allowed.level, FEATURE_LEVEL);
    if (level > this.#engine.queries.level) {
      this.#engine.setLevel(level, releaseOf(level), this.#now());
    }
  }

  /** Refuses what would write facts that others cannot read yet; `what` begins the sentence. */
  need(level: number, what: string): void {
    if (level <= this.#engine.queries.level) return;
    this.raise();
    if (level <= this.#engine.queries.level) return;
    const behind = this.#allowed.behind();
    const nodes = behind.length === 0 ? "all nodes" : `the nodes ${behind.join(", ")}`;
    const message =
      `${what} needs feature level ${level}, and the cluster is at ${this.#engine.queries.level}:` +
      ` upgrade ${nodes} to Sluice ${releaseOf(level)} or newer`;
    throw new SluiceError("UPGRADE_NEEDED", message, { level, behind });
  }
}
