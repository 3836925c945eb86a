/** An engine whose queues get the rest of their configuration here, so that tests say little. */
import { parseQueue } from "@sluice/protocol";
import type { EngineOptions } from "../core.ts";
import { Engine } from "../engine.ts";
import type { Fact } from "../facts/facts.ts";
import type { QueueConfig } from "../queues/queue-config.ts";
import type { TierConfig } from "../queues/tiers.ts";
import type { JobSpec, Lease } from "../types.ts";

type Part<T> = { [N in keyof T]?: T[N] | null | undefined };

/** What a test says of a queue; null switches a part off. */
export type QueueChange = Omit<Part<QueueConfig>, "tiers" | "capacity" | "retry" | "results"> & {
  tiers?: number | readonly (string | Partial<TierConfig>)[] | undefined;
  capacity?: Part<QueueConfig["capacity"]>;
  retry?: Partial<QueueConfig["retry"]>;
  results?: Partial<QueueConfig["results"]>;
};

/** As a queue without options is, except that it keeps fewer jobs that have ended. */
const PLAIN = { ...parseQueue("q", {}).config, results: { jobs: 1000, ms: 600_000 } };

export function queueConfig(name: string, change: QueueChange, base?: QueueConfig): QueueConfig {
  const from = base ?? { ...PLAIN, dlq: name.endsWith(".dlq") ? (false as const) : `${name}.dlq` };
  const { tiers = from.tiers, capacity, retry, results, ...rest } = change;
  return given({
    ...from,
    ...rest,
    tiers: tiersOf(tiers),
    capacity: given({ ...from.capacity, ...capacity }),
    retry: { ...from.retry, ...retry },
    results: { ...from.results, ...results },
  }) as QueueConfig;
}

/** Without what is switched off. */
function given<T extends object>(values: T): T {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value != null)) as T;
}

function tiersOf(tiers: number | readonly (string | Partial<TierConfig>)[]): TierConfig[] {
  const list = typeof tiers === "number" ? Array.from({ length: tiers }, () => ({})) : tiers;
  return list.map((tier, index) =>
    typeof tier === "string" ? { name: tier } : { name: String(index), ...tier },
  );
}

export class TestEngine extends Engine {
  constructor(options: Partial<EngineOptions> = {}) {
    super({ letterQueue: (name) => queueConfig(name, {}), ...options });
  }

  /** Keeps what the change does not mention. */
  override setQueue(queue: string, change: QueueChange, now: number): void {
    super.setQueue(queue, queueConfig(queue, change, this.findQueueConfig(queue)), now);
  }

  /** Takes jobs of one queue, as a worker that comes for them once. */
  lease(queue: string, max: number, now: number): Lease[] {
    if (max === 0) {
      this.tick(now);
      return [];
    }
    this.want(queue, "once", max, now);
    const leases = this.dispatch(now, max);
    this.want(queue, "once", 0, now);
    return leases;
  }

  /** A queue whose workers are always free, and whose leases do not run out. */
  serve(queue: string, options: QueueChange = {}): void {
    this.setQueue(queue, { leaseMs: 86_400_000, ...options }, 0);
    this.want(queue, "w", 100_000, 0);
  }

  /** All that can go out now. */
  takeAll(now = 0): Lease[] {
    const leases: Lease[] = [];
    for (let calls = 0; this.nextWake(now) <= now; calls++) {
      if (calls === 1000) throw new Error("nextWake promises work that is not done");
      leases.push(...this.dispatch(now));
    }
    return leases;
  }

  pause(queue: string, now: number): void {
    super.setQueue(queue, { ...this.queueConfig(queue), paused: true }, now);
  }

  resume(queue: string, now: number): void {
    super.setQueue(queue, { ...this.queueConfig(queue), paused: false }, now);
  }

  gateKeys(): string[] {
    return this.queries.listGates({ limit: 1000 }, 0).keys.sort();
  }

  /** The whole state as facts, as a broker tells it that moves the jobs and forgets the rest. */
  *snapshot(): Generator<Fact> {
    const rest = [...this.checkpoint()].flat();
    yield* rest;
    const { at, last } = rest[0] as Extract<Fact, { fact: "ids" }>;
    for (let id = 1; id <= last; id++) {
      const job = this.queries.record(id);
      if (job !== undefined) yield { at, fact: "moved", job };
      yield* this.parts(id, at);
    }
    yield* rest;
  }

  /** The results and signals of a job, as a broker tells them again. */
  *parts(id: number, at: number): Generator<Fact> {
    if (this.queries.job(id) === undefined) return;
    const { signals } = this.queries.stepsOf(id);
    for (const step of this.queries.record(id)?.extra?.steps?.steps ?? []) {
      const { name, occurrence, kind, sizeBytes } = step;
      const fact = { at, fact: "step" as const, id, name, occurrence, kind, sizeBytes };
      const body = this.steps.body(fact);
      if (body !== undefined) yield { ...fact, body };
    }
    for (const { name, index, sizeBytes, body } of signals) {
      if (body !== undefined) yield { at, fact: "signalled", id, name, index, sizeBytes, body };
    }
  }
}

/** An engine with the queue "q". */
export function openEngine(
  options: QueueChange = {},
  more: Partial<EngineOptions> = {},
): TestEngine {
  const engine = new TestEngine(more);
  engine.setQueue("q", options, 0);
  return engine;
}

/** The same, with the facts that it tells. */
export function openTelling(options: QueueChange = {}): { engine: TestEngine; facts: Fact[] } {
  const facts: Fact[] = [];
  return { engine: openEngine(options, { facts }), facts };
}

export function fill(engine: TestEngine, count: number, spec: JobSpec = {}, queue = "q"): void {
  for (let i = 0; i < count; i++) engine.add(queue, spec, 0);
}

/** One field of each, for checks of a list by it. */
export function each<T, F extends keyof T>(items: readonly T[], field: F): T[F][] {
  return items.map((item) => item[field]);
}

/** An engine in the state that the facts tell. */
export function rebuilt(facts: Iterable<Fact>, engine = new TestEngine()): TestEngine {
  for (const fact of facts) engine.apply(fact);
  engine.endReplay();
  return engine;
}

export function countOf(list: readonly unknown[], item: unknown): number {
  return list.filter((one) => one === item).length;
}
