import type { Engine, GatePlace } from "@sluice/engine";
import type {
  GateConfig,
  GateInfo,
  GateSort,
  GatesOptions,
  GatesPage,
  OperationOptions,
} from "@sluice/protocol";
import type { EngineCalls } from "./engine-calls.ts";
import { PAGE_MAX } from "./limits.ts";
import { checkInteger, invalid } from "./refuse.ts";

/** The calls about gates. */
export class GateCalls {
  readonly #calls: EngineCalls;

  constructor(calls: EngineCalls) {
    this.#calls = calls;
  }

  async setGate(key: string, config: GateConfig): Promise<GateInfo> {
    await this.#calls.change((engine, now) => engine.setGate(key, withFrom(config), now));
    return this.gate(key);
  }

  deleteGate(key: string): Promise<void> {
    return this.#calls.change((engine, now) => engine.deleteGate(key, now));
  }

  async gate(key: string): Promise<GateInfo> {
    return this.#calls.call((engine, now) =>
      key.endsWith("*")
        ? patternInfo(key, engine.gateConfig(key))
        : { ...engine.gateStats(key, now), line: engine.gateLine(key) },
    );
  }

  async gates(options: GatesOptions = {}): Promise<GatesPage> {
    const { limit = 100, search = "", sort = "key", queue, cursor, configured } = options;
    checkInteger("limit", limit, 1, PAGE_MAX);
    if (typeof search !== "string") throw invalid("search", "a text", search);
    if (!SORTS.includes(sort)) throw invalid("sort", `one of ${SORTS.join(", ")}`, sort);
    const after = parsePlace(cursor);
    const { keys, total, next } = this.#calls.call((engine, now) =>
      engine.listGates(
        { search, sort, queue, isConfigured: configured === true, limit, after },
        now,
      ),
    );
    const items = await Promise.all(keys.map((key) => this.gate(key)));
    return next === undefined
      ? { items, total }
      : { items, total, cursor: `${next.value},${next.key}` };
  }

  cooldown(key: string, ms: number, reason = ""): Promise<void> {
    return this.#calls.change((engine, now) => engine.cooldown(key, ms, reason, now));
  }

  clearCooldown(key: string): Promise<void> {
    return this.#calls.change((engine, now) => engine.clearCooldown(key, now));
  }

  reportGate(key: string, ok: boolean, options: OperationOptions = {}): Promise<void> {
    return this.#calls.changeOnce(
      `reportGate ${key}`,
      options,
      (engine, now) => engine.reportGate(key, ok, now),
      ok,
    );
  }
}

function withFrom(config: GateConfig): Parameters<Engine["setGate"]>[1] {
  const { interval, ...rest } = config;
  if (interval === undefined || interval === null) return rest;
  return { ...rest, interval: { ...interval, from: interval.from ?? "end" } };
}

/** A pattern has no level of its own: its gates have. */
const SORTS: readonly string[] = ["key", "waiting"] satisfies readonly GateSort[];

function parsePlace(cursor: string | undefined): GatePlace | undefined {
  if (cursor === undefined) return undefined;
  const [, value, key] = /^(\d+),(.+)$/.exec(String(cursor)) ?? [];
  if (key !== undefined) return { value: Number(value), key };
  throw invalid("cursor", "the cursor of an earlier answer", cursor);
}

function patternInfo(key: string, config: GateConfig | undefined): GateInfo {
  return {
    key,
    config,
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
