// Partitions that share gates over a bad network. In the end the network is left alone until all
// jobs are finished, and the limits are held against all that went out.

import { openBroker } from "@sluice/broker";
import type { GateSettings } from "@sluice/protocol";
import { type Dispatch, excesses } from "@sluice/protocol/conformance";
import type { BrokerModule } from "../broker-faults/life.ts";
import { FaultWorld } from "../fault-world.ts";
import { Random } from "../random.ts";
import type { Counts, WorldEnd } from "../world-end.ts";
import { Net } from "./net.ts";
import { type JobKind, Partition } from "./partition.ts";

const PARTITIONS = ["0", "1", "2"];
const STEP_MS = 500;
const PACE = { turns: 3, callStepMs: 5, steps: 24, quietSteps: 240, quietMs: 1_000 };
// A cooldown reaches everybody, or what they have borrowed has run out.
const COOLDOWN_HEARD_MS = 1250;
const STALLS = 2 ** 32;
// One world of so many has logs that stand still.
const STALL_EVERY = 7;
// How often jobs name which gates, by seed: claims of different partitions meet where most jobs
// need both gates.
const FEW = { g: 6, h: 2, "g,h": 1 };
const MOST = { g: 1, h: 1, "g,h": 4 };
const ALL = { "g,h": 1 };
const MIXES: readonly Readonly<Record<string, number>>[] = [FEW, FEW, FEW, FEW, MOST, FEW, ALL];

export function runSharedGates(
  seed: number,
  module: BrokerModule = { openBroker },
): Promise<WorldEnd> {
  return new SharedGatesWorld(seed, module).run();
}

class SharedGatesWorld extends FaultWorld {
  protected readonly failures: string[] = [];
  readonly #net: Net;
  readonly #partitions: Partition[];
  readonly #gates: Readonly<Record<string, GateSettings>>;
  readonly #cooldowns: { gate: string; from: number; until: number }[] = [];
  readonly #slackMs: number;
  readonly #pending = new Set<Promise<unknown>>();
  // A source of its own: worlds without stalls are what their seeds were before there were any.
  readonly #stalls: Random;
  readonly #hasStalls: boolean;
  readonly #mix: Readonly<Record<string, number>>;
  #hasFaults = false;

  constructor(seed: number, module: BrokerModule) {
    super(seed, PACE);
    this.#stalls = new Random(seed + STALLS);
    this.#hasStalls = seed % STALL_EVERY === 1;
    this.#mix = MIXES[seed % MIXES.length]!;
    const { random } = this;
    const loss = random.pick([0, 0, 0.05, 0.15]);
    this.#net = new Net(this.clock, random, { delayMs: [0, random.pick([2, 10, 60])], loss });
    this.#gates = { g: gateOf(random), h: gateOf(random) };
    const drifts = random.chance(0.3);
    this.#slackMs = drifts ? 1 : 0;
    this.#partitions = PARTITIONS.map((name, i) => {
      // The homes' clocks are the measure: only the third one is fast or slow.
      const speed = drifts && i === 2 ? random.pick([0.9, 1.1]) : 1;
      return new Partition(this.clock, random, this.#net, {
        name,
        others: PARTITIONS.filter((other) => other !== name),
        homeOf: (gate) => (gate === "h" ? "1" : "0"),
        module,
        logMs: random.pick([0, 3, 20]),
        workMs: random.pick([0, 50, 400]),
        credits: random.pick([1, 4, 40]),
        aheadMs: random.between(-3_600_000, 3_600_000),
        speed,
      });
    });
  }

  protected get counts(): Counts {
    const jobs = this.#partitions.reduce((sum, { finished }) => sum + finished, 0);
    return { jobs, calls: this.#net.calls };
  }

  protected async open(): Promise<void> {
    for (const partition of this.#partitions) {
      await this.time.during(partition.open());
      await this.time.during(partition.setGates(this.#gates));
    }
    this.#hasFaults = this.random.chance(0.7);
  }

  protected async step(): Promise<void> {
    for (const partition of this.#partitions) this.#add(partition);
    await this.time.pass(this.random.between(1, STEP_MS));
    if (this.#hasFaults) await this.#fault();
    if (this.random.chance(0.04)) this.#cool();
  }

  #add(partition: Partition): void {
    if (!partition.isUp || partition.clock.isFrozen) return;
    const kinds = Array.from({ length: this.random.between(0, 4) }, (): JobKind => {
      const gates = this.random.weighted(this.#mix).split(",");
      return { gates, cost: this.random.pick([1, 1, 1, 2, 3]), tier: this.random.below(3) };
    });
    // What is lost with the process is not known to be there.
    if (kinds.length > 0) void this.time.during(partition.add(kinds)).catch(() => {});
  }

  async #fault(): Promise<void> {
    const { cuts } = this.#net;
    const partition = this.random.pick(this.#partitions);
    const { name } = partition.options;
    if (this.random.chance(0.1)) cuts.add(name);
    else if (this.random.chance(0.3)) cuts.clear();
    if (this.random.chance(0.08) && partition.isUp) {
      await partition.crash(this.random.chance(0.3));
      this.#reopen(this.random.between(0, 3000), partition);
    }
    if (this.random.chance(0.08) && partition.isUp) {
      partition.clock.isFrozen = true;
      const { clock } = partition;
      this.in(this.random.between(100, 4000), () => clock.thaw());
    }
    this.#stall(partition);
  }

  // Some are longer than a lease. Where a clock drifts, the time at which a lease began is known
  // too little after so long.
  #stall(partition: Partition): void {
    if (this.#slackMs > 0 || !this.#hasStalls || !partition.isUp) return;
    if (!this.#stalls.chance(0.1)) return;
    partition.stallLog(this.#stalls.pick([1_000, 9_000, 12_000]));
  }

  #reopen(ms: number, partition: Partition): void {
    const done = new Promise((resolve, reject) => {
      this.in(ms, () => partition.open().then(resolve, reject));
    });
    this.#pending.add(done);
    done.then(
      () => this.#pending.delete(done),
      (error) => {
        this.#pending.delete(done);
        this.failures.push(`a partition does not open: ${error}`);
      },
    );
  }

  // At its home, so that it is known when it holds.
  #cool(): void {
    const gate = this.random.pick(["g", "h"]);
    const home = this.#partitions[gate === "h" ? 1 : 0]!;
    if (!home.isUp || home.clock.isFrozen) return;
    const ms = this.random.between(500, 5000);
    const until = this.clock.now() + ms;
    home.broker!.cooldown(gate, ms, "sim").then(
      () => this.#cooldowns.push({ gate, from: this.clock.now() + COOLDOWN_HEARD_MS, until }),
      () => {},
    );
  }

  protected async heal(): Promise<void> {
    this.#net.cuts.clear();
    this.#net.isCalm = true;
    for (const { clock } of this.#partitions) if (clock.isFrozen) clock.thaw();
    while (this.#pending.size > 0) await this.time.pass(100);
  }

  protected async isSettled(): Promise<boolean> {
    let left = 0;
    for (const { broker } of this.#partitions) {
      const { stats } = await broker!.queue("q");
      left += stats.waiting + stats.delayed + stats.running;
    }
    return left === 0;
  }

  protected async judge(): Promise<void> {
    if (!(await this.isSettled())) await this.#tellStuck();
    for (const [gate, config] of Object.entries(this.#gates)) {
      const all = this.#partitions.flatMap(({ dispatches }) => dispatches.get(gate) ?? []);
      for (const { part, text } of excesses(config, all, this.#slackMs)) {
        this.failures.push(`${gate} ${JSON.stringify(config)}: ${part}: ${text}`);
      }
      this.#judgeWorkers(gate, config);
      this.#judgeCooldowns(gate, all);
    }
  }

  // Whatever the broker knows, workers must not have more at once than the gate lets through.
  #judgeWorkers(gate: string, { concurrency }: GateSettings): void {
    const all = this.#partitions.flatMap(({ works }) => works.get(gate) ?? []);
    for (const { part, text } of excesses({ concurrency }, all)) {
      this.failures.push(`${gate} at its workers: ${part}: ${text}`);
    }
  }

  async #tellStuck(): Promise<void> {
    const why: unknown[] = [];
    for (const { broker, options } of this.#partitions) {
      const { items } = await broker!.jobs("q", { state: "waiting", limit: 1 });
      for (const { id, gates } of items) why.push([options.name, gates, await broker!.why(id)]);
    }
    this.failures.push(`jobs are stuck: ${JSON.stringify(why)}`);
  }

  protected async close(): Promise<void> {
    for (const partition of this.#partitions) await partition.crash(false);
  }

  #judgeCooldowns(gate: string, all: readonly Dispatch[]): void {
    for (const cooldown of this.#cooldowns) {
      if (cooldown.gate !== gate) continue;
      const early = all.find(({ at }) => at > cooldown.from && at < cooldown.until);
      if (early !== undefined) this.failures.push(`${gate} is cooled down at ${early.at}`);
    }
  }
}

// Limits under which the jobs of a world take seconds, and wait.
function gateOf(random: Random): GateSettings {
  const kind = random.weighted({
    rate: 4,
    tight: 2,
    windows: 3,
    concurrency: 4,
    start: 2,
    end: 2,
    mixed: 2,
  });
  switch (kind) {
    case "rate":
      return { rate: random.between(5, 60), burst: random.between(3, 60) };
    case "tight":
      return { rate: random.between(10, 40), burst: 3 };
    case "windows":
      return { windows: [{ limit: random.between(3, 40), per: random.between(500, 3000) }] };
    case "concurrency":
      return { concurrency: random.between(1, 6) };
    case "start":
      return { interval: { every: random.between(20, 150), from: "start", factors: [0.5, 1, 2] } };
    case "end":
      return { interval: { every: random.between(10, 60), from: "end" } };
    case "mixed":
      return {
        rate: random.between(10, 60),
        burst: random.between(3, 20),
        concurrency: random.between(1, 8),
        windows: [{ limit: random.between(5, 30), per: 1000 }],
      };
  }
}
