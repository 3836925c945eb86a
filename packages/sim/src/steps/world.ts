// Handlers in steps on a real broker, whose process and workers die at any moment. What they were
// told must hold: a step that is recorded never runs again, and its value is the one that was
// recorded; a suspended job holds no permit and uses no delivery; signals that were answered reach
// their steps; an ordered lane never has two jobs out; and everything ends.

import * as broker from "@sluice/broker";
import { MemoryLog } from "@sluice/log";
import { FakeClock, type LeasedJob, type StepInfo, type Suspension } from "@sluice/protocol";
import type { BrokerModule } from "../broker-faults/life.ts";
import { Broken, demand } from "../demand.ts";
import { Random } from "../random.ts";
import type { WorldEnd } from "../world-end.ts";

type Step =
  | { kind: "run"; gates: readonly string[]; cost: number; fails: number }
  | { kind: "sleep"; ms: number }
  | { kind: "wait"; timeoutMs: number | undefined };

interface Plan {
  readonly steps: readonly Step[];
  readonly lane: string;
  readonly isOrdered: boolean;
}

const GATES = ["places", "rate"];
const LEASE_MS = 10_000;
const TURNS_MAX = 1_500;
const KIB = 1024;

export async function runSteps(seed: number, module: BrokerModule = broker): Promise<WorldEnd> {
  const world = new StepsWorld(seed, module);
  try {
    await world.run();
    return { failure: undefined, counts: world.counts };
  } catch (error) {
    return { failure: String((error as Error).message), counts: world.counts };
  } finally {
    await world.close();
  }
}

class StepsWorld {
  readonly counts = { steps: 0, suspensions: 0, crashes: 0 };
  readonly #random: Random;
  readonly #module: BrokerModule;
  readonly #clock = new FakeClock();
  readonly #plans = new Map<string, Plan>();
  // The values of steps whose record was answered, by job and step.
  readonly #recorded = new Map<string, string>();
  readonly #sent = new Map<string, string[]>();
  // Deliveries that did not end by a suspension.
  readonly #counted = new Map<string, number>();
  #log = new MemoryLog({ segmentBytes: 8 * KIB });
  #broker!: Awaited<ReturnType<BrokerModule["openBroker"]>>;

  constructor(seed: number, module: BrokerModule) {
    this.#random = new Random(seed);
    this.#module = module;
  }

  async run(): Promise<void> {
    await this.#open();
    await this.#broker.setQueue("q", {
      lease: LEASE_MS,
      retry: { attempts: 1000, min: 1, max: 20, deliveries: 100_000 },
      results: { jobs: 1000 },
    });
    await this.#broker.setGate("places", { concurrency: 2 });
    await this.#broker.setGate("rate", { rate: 50, burst: 2 });
    await this.#addAll();
    for (let turn = 0; turn < TURNS_MAX; turn++) {
      if (await this.#isOver()) return;
      await this.#turn();
    }
    throw new Broken("everything ends", `after ${TURNS_MAX} turns: ${await this.#left()}`);
  }

  async close(): Promise<void> {
    await this.#broker.close().catch(() => {});
  }

  async #open(): Promise<void> {
    const small = { segmentBytes: 64 * KIB, payloadMemoryBytes: 4 * KIB };
    this.#broker = await this.#module.openBroker({ log: this.#log, clock: this.#clock, ...small });
  }

  // The process is gone: what was not durable is lost, and the next one opens the log.
  async #crash(): Promise<void> {
    this.counts.crashes++;
    const old = this.#broker;
    await this.#log.close();
    this.#log = new MemoryLog({ segmentBytes: 8 * KIB, after: this.#log });
    await this.#open();
    await old.close().catch(() => {});
  }

  async #addAll(): Promise<void> {
    for (let i = 0; i < this.#random.between(2, 7); i++) {
      const plan: Plan = {
        steps: Array.from({ length: this.#random.below(5) }, () => this.#newStep()),
        lane: this.#random.pick(["x", "y"]),
        isOrdered: this.#random.chance(0.5),
      };
      const job = { payload: new Uint8Array(), fairnessKey: plan.lane, ordered: plan.isOrdered };
      const [added] = await this.#broker.add("q", [job]);
      this.#plans.set(added!.ok!.id, plan);
    }
  }

  #newStep(): Step {
    const random = this.#random;
    const kind = random.weighted({ run: 4, sleep: 1, wait: 2 });
    if (kind === "sleep") return { kind, ms: random.below(200) };
    if (kind === "wait") {
      return { kind, timeoutMs: random.chance(0.5) ? undefined : random.between(1, 300) };
    }
    return { kind, gates: random.some(GATES, 0.5), cost: 1, fails: random.below(2) };
  }

  async #turn(): Promise<void> {
    const random = this.#random;
    if (random.chance(0.05)) await this.#crash();
    if (random.chance(0.3)) await this.#signal();
    const [job] = await this.#broker.lease("q", { max: 1, worker: "w" });
    await this.#judge();
    if (job === undefined) {
      await this.#clock.advance(random.chance(0.1) ? LEASE_MS : random.below(100));
    } else await this.#deliver(job);
    await this.#judge();
  }

  async #signal(): Promise<void> {
    const id = this.#random.pick([...this.#plans.keys()]);
    const waits = this.#plans.get(id)!.steps.flatMap(({ kind }, i) => (kind === "wait" ? [i] : []));
    if (waits.length === 0) return;
    const name = `s${this.#random.pick(waits)}`;
    const key = `${id} ${name}`;
    const sent = this.#sent.get(key) ?? [];
    const value = `${key} ${sent.length}`;
    if (sent.length > 3) return;
    this.#sent.set(key, [...sent, value]);
    await this.#broker.signal(id, name, value).catch(() => {});
  }

  // What a handler does, until it is suspended, fails, dies or ends.
  async #deliver(job: LeasedJob): Promise<void> {
    const known = job.hasSteps === true ? await this.#broker.steps(job.id) : undefined;
    const counted = (this.#counted.get(job.id) ?? 0) + 1;
    demand(job.deliveries <= counted, "a suspension is no delivery", () => {
      return `job ${job.id} has ${job.deliveries} deliveries, and ${counted} were not suspended`;
    });
    for (const [i, step] of this.#plans.get(job.id)!.steps.entries()) {
      const name = `s${i}`;
      const entry = known?.items.find((item) => item.name === name);
      if (entry?.isDone === true) this.#checkValue(`${job.id} ${name}`, step, entry);
      else {
        const isGranted = known?.pending?.name === name;
        if (!(await this.#do(job, name, step, entry?.failures ?? 0, isGranted))) return;
      }
    }
    this.#counted.set(job.id, counted);
    await this.#broker.ack([{ lease: job.lease }]);
  }

  #checkValue(key: string, step: Step, { value, isLate }: StepInfo): void {
    if (step.kind === "run") {
      const wanted = this.#recorded.get(key) ?? value;
      demand(value === wanted, "a result stays", () => `${key} is ${value}, and was ${wanted}`);
    } else if (step.kind === "wait" && isLate !== true) {
      const isSent = this.#sent.get(key)?.includes(String(value)) === true;
      demand(isSent, "a wait gets what was sent", () => `${key} got ${value}`);
    }
  }

  // False: this run is over.
  async #do(
    { id, lease }: LeasedJob,
    name: string,
    step: Step,
    failed: number,
    isGranted: boolean,
  ): Promise<boolean> {
    const of = { lease, name, occurrence: 0 };
    if (step.kind === "sleep") return this.#suspend({ ...of, kind: "sleep", delayMs: step.ms });
    if (step.kind === "wait") {
      const isDone = await this.#suspend({ ...of, kind: "wait", delayMs: step.timeoutMs });
      return isDone;
    }
    const { gates, cost, fails } = step;
    const gated = { ...of, kind: "run" as const, gates, cost };
    if (gates.length > 0 && !isGranted) return this.#suspend(gated);
    if (failed < fails) {
      return this.#suspend({ ...gated, delayMs: 5, failures: failed + 1, error: "no" });
    }
    const key = `${id} ${name}`;
    demand(!this.#recorded.has(key), "a recorded step never runs again", () => key);
    if (this.#random.chance(0.1)) return this.#die(id, lease);
    const value = `${key} by ${lease}`;
    const recording = this.#broker.recordStep([{ ...of, value }]);
    if (this.#random.chance(0.05)) await this.#crash();
    const [outcome] = await recording.catch(() => [undefined]);
    if (outcome?.ok !== true) return this.#die(id, lease);
    this.counts.steps++;
    this.#recorded.set(key, value);
    return this.#random.chance(0.9) || this.#die(id, lease);
  }

  // True: it was not suspended, since the step is done.
  async #suspend(of: Suspension): Promise<boolean> {
    const [outcome] = await this.#broker.suspend([of]);
    if (outcome?.ok === true) this.counts.suspensions++;
    return outcome?.ok === false;
  }

  // The worker fails, gives up, or is gone without a word.
  async #die(id: string, lease: string): Promise<false> {
    this.#counted.set(id, (this.#counted.get(id) ?? 0) + 1);
    const how = this.#random.below(3);
    if (how === 0) await this.#broker.nack([{ lease, error: "no" }]);
    else if (how === 1) await this.#broker.giveBack([lease]);
    return false;
  }

  async #judge(): Promise<void> {
    const { items: running } = await this.#broker.jobs("q", { state: "running" });
    for (const gate of GATES) {
      const { inFlight } = await this.#broker.gate(gate);
      const held = running.filter(({ gates }) => gates.includes(gate)).length;
      demand(inFlight === held, "permits are held by jobs that run", () => {
        return `${gate}: ${inFlight} in flight, ${held} jobs run`;
      });
      demand(gate !== "places" || inFlight <= 2, "gates are exact", () => `${inFlight} places`);
    }
    const lanes = running
      .filter(({ id }) => this.#plans.get(id)!.isOrdered)
      .map(({ id }) => this.#plans.get(id)!.lane);
    demand(new Set(lanes).size === lanes.length, "ordered lanes have one job out", () => {
      return running.map(({ id }) => id).join(", ");
    });
  }

  async #isOver(): Promise<boolean> {
    const { waiting, delayed, running } = (await this.#broker.queue("q")).stats;
    return waiting + delayed + running === 0;
  }

  async #left(): Promise<string> {
    const { items } = await this.#broker.jobs("q");
    const open = items.filter(({ state }) => state !== "finished");
    return open.map(({ id, state }) => `${id} is ${state}`).join(", ");
  }
}
