import type { Core } from "../core.ts";
import { Refusal } from "../errors.ts";
import { tellCleared, tellCooldown } from "../lending/news.ts";
import { Queries } from "../queries/queries.ts";
import type { GateConfig } from "../types.ts";
import { report } from "./fail.ts";
import { setGate } from "./manage.ts";

/** What can be done with gates. */
export class GateVerbs extends Queries {
  readonly #core: Core;

  constructor(core: Core) {
    super(core);
    this.#core = core;
  }

  /** Sets the limits of a gate, or of all gates that a pattern such as `indexer:*` matches. */
  setGate(key: string, config: GateConfig, now: number): void {
    const at = this.#core.clock(now);
    setGate(this.#core, key, config, at);
    this.#core.tell({ at, fact: "gate", key, config });
    this.#core.lines.settle(at);
  }

  /** Removes the limits: what waited for them goes on. */
  deleteGate(key: string, now: number): void {
    const at = this.#core.clock(now);
    if (this.#core.gates.patterns.get(key) === undefined) {
      const details = { field: "gate", value: key };
      throw new Refusal("GATE_NOT_FOUND", `gate ${key} is not configured`, details);
    }
    setGate(this.#core, key, undefined, at);
    this.#core.tell({ at, fact: "gate", key, config: undefined });
    this.#core.lines.settle(at);
  }

  cooldown(key: string, ms: number, reason: string, now: number): void {
    const at = this.#core.clock(now);
    const gate = this.#core.gates.gateOf(key, at);
    gate.cool(at + ms, reason, at);
    this.#core.tell({ at, fact: "cooled", key, until: at + ms, reason });
    tellCooldown(this.#core, gate, at);
    this.#core.lines.changed(gate);
    this.#core.lines.settle(at);
  }

  clearCooldown(key: string, now: number): void {
    const at = this.#core.clock(now);
    const gate = this.#core.gates.gateOf(key, at);
    gate.clearCooldown();
    this.#core.tell({ at, fact: "cleared", key });
    tellCleared(this.#core, gate);
    this.#core.lines.changed(gate);
    this.#core.lines.settle(at);
  }

  /** Reports a success or a failure to a gate's ladder. */
  reportGate(key: string, ok: boolean, now: number): void {
    const at = this.#core.clock(now);
    report(this.#core, key, ok, at);
    this.#core.tell({ at, fact: "reported", key, ok });
    this.#core.lines.settle(at);
  }
}
