import type { Engine, GateConfig, GatePlace } from "@sluice/engine";
import {
  answerGate,
  COOLDOWN,
  checkInteger,
  type Duration,
  GATE_PATTERN,
  type GateInfo,
  type GateOptions,
  type GatesOptions,
  type GatesPage,
  invalid,
  NAME,
  type OperationOptions,
  parseGate,
} from "@sluice/protocol";
import type { EngineCalls } from "./engine-calls.ts";
import { COST_MAX } from "./limits.ts";

/** The calls about gates. */
export class GateCalls {
  readonly #calls: EngineCalls;

  constructor(calls: EngineCalls) {
    this.#calls = calls;
  }

  async setGate(key: string, options: GateOptions): Promise<GateInfo> {
    GATE_PATTERN.parse("gate", key);
    const config = parseGate(options);
    await this.#calls.change((engine, now) => engine.setGate(key, config, now));
    return this.gate(key);
  }

  async deleteGate(key: string): Promise<void> {
    GATE_PATTERN.parse("gate", key);
    return this.#calls.change((engine, now) => engine.deleteGate(key, now));
  }

  async gate(key: string): Promise<GateInfo> {
    GATE_PATTERN.parse("gate", key);
    return this.#calls.call((engine, now) =>
      key.endsWith("*")
        ? patternInfo(key, engine.queries.gateConfig(key))
        : infoOf(engine.queries.gateStats(key, now), engine.queries.gateLine(key)),
    );
  }

  async gates(options: GatesOptions = {}): Promise<GatesPage> {
    const { limit = 100, search = "", sort = "key", queue, cursor, configured } = options;
    const after = parsePlace(cursor);
    const { keys, total, next } = this.#calls.call((engine, now) =>
      engine.queries.listGates(
        { search, sort, queue, isConfigured: configured === true, limit, after },
        now,
      ),
    );
    const items = await Promise.all(keys.map((key) => this.gate(key)));
    return next === undefined
      ? { items, total }
      : { items, total, cursor: `${next.value},${next.key}` };
  }

  async cooldown(key: string, duration: Duration, reason = ""): Promise<void> {
    NAME.parse("gate", key);
    const ms = COOLDOWN.parse("duration", duration);
    return this.#calls.change((engine, now) => engine.cooldown(key, ms, reason, now));
  }

  async clearCooldown(key: string): Promise<void> {
    NAME.parse("gate", key);
    return this.#calls.change((engine, now) => engine.clearCooldown(key, now));
  }

  async chargeGate(key: string, cost: number, options: OperationOptions = {}): Promise<void> {
    NAME.parse("gate", key);
    checkInteger("cost", cost, -COST_MAX, COST_MAX);
    return this.#calls.changeOnce(
      `chargeGate ${key}`,
      options,
      (engine, now) => engine.charge(key, cost, now),
      cost,
    );
  }

  async reportGate(key: string, ok: boolean, options: OperationOptions = {}): Promise<void> {
    NAME.parse("gate", key);
    return this.#calls.changeOnce(
      `reportGate ${key}`,
      options,
      (engine, now) => engine.reportGate(key, ok, now),
      ok,
    );
  }
}

function parsePlace(cursor: string | undefined): GatePlace | undefined {
  if (cursor === undefined) return undefined;
  const [, value, key] = /^(\d+),(.+)$/.exec(String(cursor)) ?? [];
  if (key !== undefined) return { value: Number(value), key };
  throw invalid("cursor", "the cursor of an earlier answer", cursor);
}

function infoOf(
  { config, windows, ...stats }: ReturnType<Engine["queries"]["gateStats"]>,
  line: GateInfo["line"],
): GateInfo {
  return {
    ...stats,
    config: config === undefined ? undefined : answerGate(config),
    windows: windows.map(({ limit, perMs, used }) => ({ limit, per: perMs, used })),
    line,
  };
}

/** A pattern has no level of its own: its gates have. */
function patternInfo(key: string, config: GateConfig | undefined): GateInfo {
  return {
    key,
    config: config === undefined ? undefined : answerGate(config),
    pattern: undefined,
    tokens: undefined,
    windows: [],
    inFlight: 0,
    ladderStep: 0,
    cooldown: undefined,
    opensAt: undefined,
    opensAtByTier: [],
    part: undefined,
    waitingLanes: 0,
    line: [],
  };
}
