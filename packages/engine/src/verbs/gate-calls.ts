import type { Core } from "../core.ts";
import { Refusal } from "../errors.ts";
import { tellCleared, tellCooldown } from "../lending/news.ts";
import {
  parseCooldown,
  parseGateConfig,
  parseGateKey,
  parseGatePattern,
} from "../parse/parse-gate.ts";
import { Queries } from "../queries/queries.ts";
import type { GateConfig } from "../types.ts";
import { report } from "./fail.ts";
import { setGate } from "./manage.ts";

/** What can be done with gates. */
export class GateCalls extends Queries {
  readonly #core: Core;

  constructor(core: Core) {
    super(core);
    this.#core = core;
  }

  /** Sets the limits of a gate, or of all gates that a pattern such as `indexer:*` matches. */
  setGate(key: string, config: GateConfig, now: number): void {
    const at = this.#core.clock(now);
    const pattern = parseGatePattern("gate", key);
    const parsed = parseGateConfig(pattern, config);
    setGate(this.#core, pattern, parsed, at);
    this.#core.tell({ at, fact: "gate", key: pattern, config: parsed });
    this.#core.lines.settle(at);
  }

  /** Removes the limits: what waited for them goes on. */
  deleteGate(key: string, now: number): void {
    const at = this.#core.clock(now);
    const pattern = parseGatePattern("gate", key);
    if (this.#core.gates.patterns.get(pattern) === undefined) {
      throw new Refusal("GATE_NOT_FOUND", `gate ${pattern} is not configured`, {
        field: "gate",
        value: pattern,
      });
    }
    setGate(this.#core, pattern, undefined, at);
    this.#core.tell({ at, fact: "gate", key: pattern, config: undefined });
    this.#core.lines.settle(at);
  }

  cooldown(key: string, ms: number, reason: string, now: number): void {
    const at = this.#core.clock(now);
    const cooldown = parseCooldown(ms, reason);
    const gate = this.#core.gates.gateOf(parseGateKey("gate", key), at);
    gate.cool(at + cooldown.ms, cooldown.reason, at);
    this.#core.tell({ at, fact: "cooled", key, until: at + cooldown.ms, reason: cooldown.reason });
    tellCooldown(this.#core, gate, at);
    this.#core.lines.changed(gate);
    this.#core.lines.settle(at);
  }

  clearCooldown(key: string, now: number): void {
    const at = this.#core.clock(now);
    const gate = this.#core.gates.gateOf(parseGateKey("gate", key), at);
    gate.clearCooldown();
    this.#core.tell({ at, fact: "cleared", key });
    tellCleared(this.#core, gate);
    this.#core.lines.changed(gate);
    this.#core.lines.settle(at);
  }

  /** Reports a success or a failure to a gate's ladder. */
  reportGate(key: string, ok: boolean, now: number): void {
    const at = this.#core.clock(now);
    report(this.#core, parseGateKey("gate", key), ok, at);
    this.#core.tell({ at, fact: "reported", key, ok });
    this.#core.lines.settle(at);
  }
}
