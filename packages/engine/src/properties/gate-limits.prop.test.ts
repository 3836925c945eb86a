import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { GateConfig } from "../gates/gate-state.ts";
import { Drive, type Taken } from "./drive.ts";

const part = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined });

const COST_MAX = 3;

const bucket = fc.record({
  rate: fc.oneof(fc.constantFrom(0.3, 7, 900), fc.double({ min: 0.2, max: 50, noNaN: true })),
  burst: fc.integer({ min: COST_MAX, max: 8 }),
});

const otherParts: fc.Arbitrary<GateConfig> = fc.record({
  interval: part(
    fc.record({
      ms: fc.integer({ min: 1, max: 300 }),
      from: fc.constantFrom("start" as const, "end" as const),
      factors: part(fc.array(fc.constantFrom(0, 0.1, 0.5, 1, 2), { minLength: 1, maxLength: 4 })),
      floorMs: part(fc.integer({ min: 0, max: 50 })),
    }),
  ),
  windows: part(
    fc.array(
      fc.record({
        limit: fc.integer({ min: COST_MAX, max: 9 }),
        perMs: fc.integer({ min: 1, max: 900 }),
      }),
      { maxLength: 3 },
    ),
  ),
  concurrency: part(fc.integer({ min: 1, max: 3 })),
});

const anyGate: fc.Arbitrary<GateConfig> = fc
  .tuple(part(bucket), otherParts)
  .map(([rate, others]) => ({ ...rate, ...others }));

/** One permit: when it was taken, and when it was given back. */
interface Permit {
  at: number;
  cost: number;
  tier: number;
  end: number;
}

const ROUNDING = 1e-6;

/** Looks at every interval that begins and ends with a permit; answers what is too much. */
function overGranted(config: GateConfig, permits: readonly Permit[]): string | undefined {
  for (let i = 0; i < permits.length; i++) {
    const first = permits[i]!;
    let sum = 0;
    for (let j = i; j < permits.length; j++) {
      const last = permits[j]!;
      sum += last.cost;
      const fault = overSum(config, sum, last.at - first.at);
      if (fault !== undefined) return `${fault}: permits ${i} to ${j}`;
    }
    const held = permits.filter(({ at, end }) => at <= first.at && end > first.at).length;
    const places = config.interval?.from === "end" ? 1 : (config.concurrency ?? 1e9);
    if (i + 1 === permits.length && held > places) return `concurrency: ${held} at permit ${i}`;
    if (i > 0 && tooClose(config, permits[i - 1]!, first)) return `interval before permit ${i}`;
  }
  return undefined;
}

function overSum(config: GateConfig, sum: number, ms: number): string | undefined {
  if (config.rate !== undefined) {
    const burst = config.burst ?? Math.max(1, config.rate);
    if (sum > burst + (config.rate * ms) / 1000 + ROUNDING) return "rate";
  }
  for (const { limit, perMs } of config.windows ?? []) {
    if (ms < perMs && sum > limit) return `window of ${perMs} ms`;
  }
  return undefined;
}

function tooClose({ interval }: GateConfig, before: Permit, permit: Permit): boolean {
  if (interval === undefined) return false;
  const factors = interval.factors ?? [1];
  const factor = factors[Math.min(permit.tier, factors.length - 1)]!;
  const ms = Math.max(interval.ms * factor, interval.floorMs ?? 0);
  const since = interval.from === "start" ? before.at : before.end;
  return permit.at - since < ms - ROUNDING;
}

type Move =
  | { do: "add"; cost: number; tier: number; lane: number }
  | { do: "end"; how: "ack" | "nack" | "cancel" | "give back"; which: number }
  | { do: "wait"; ms: number }
  | { do: "cool"; ms: number };

const move: fc.Arbitrary<Move> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("add" as const),
      cost: fc.integer({ min: 1, max: COST_MAX }),
      tier: fc.nat(3),
      lane: fc.nat(3),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("end" as const),
      how: fc.constantFrom("ack" as const, "nack", "cancel", "give back"),
      which: fc.nat(5),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("wait" as const), ms: fc.nat(700) }) },
  fc.record({ do: fc.constant("cool" as const), ms: fc.nat(300) }),
);

/** Plays moves at one gate and keeps the list of permits; expiries happen by themselves. */
class GateWorld {
  readonly drive = new Drive();
  readonly permits: Permit[] = [];
  readonly config: GateConfig;
  #running = new Map<number, { taken: Taken; permit: Permit }>();
  #coolUntil = 0;

  constructor(config: GateConfig) {
    this.config = config;
    this.drive.open("q", { leaseMs: 400, retry: { minMs: 50, maxMs: 50, attempts: 9 } });
    this.drive.engine.setGate("g", config, this.drive.now);
  }

  play(one: Move): void {
    const { engine, now } = this.drive;
    if (one.do === "add") {
      const { lane, cost, tier } = one;
      this.drive.add("q", `${lane}`, { cost, priority: tier, gates: ["g"] });
    } else if (one.do === "wait") this.#wait(one.ms);
    else if (one.do === "cool") {
      engine.cooldown("g", one.ms, "signal", now);
      this.#coolUntil = Math.max(this.#coolUntil, now + one.ms);
    } else this.#end(one.how, one.which);
    this.#dispatch();
  }

  #end(how: "ack" | "nack" | "cancel" | "give back", which: number): void {
    const { engine, now } = this.drive;
    const each = [...this.#running.values()][which % Math.max(1, this.#running.size)];
    if (each === undefined) return;
    const { id, lease } = each.taken;
    if (how === "ack") engine.ack(id, lease, now);
    else if (how === "nack") engine.nack(id, lease, now, { delayMs: 30 });
    else if (how === "cancel") engine.cancel(id, now);
    else engine.giveBack(id, lease, now);
    each.permit.end = now;
    this.#running.delete(id);
  }

  #wait(ms: number): void {
    const end = this.drive.now + ms;
    for (;;) {
      const wake = this.drive.engine.nextWake(this.drive.now);
      if (wake > end) break;
      this.drive.now = wake;
      this.#dispatch();
    }
    this.drive.now = end;
  }

  #dispatch(): void {
    for (const { taken, permit } of this.#running.values()) {
      if (taken.expiresAt > this.drive.now) continue;
      permit.end = this.drive.now;
      this.#running.delete(taken.id);
    }
    for (const taken of this.drive.dispatchNow()) {
      assert.ok(taken.at >= this.#coolUntil, "no job goes out during a cooldown");
      const permit = { at: taken.at, cost: taken.mark.cost, tier: taken.tier, end: 1e15 };
      this.permits.push(permit);
      this.#running.set(taken.id, { taken, permit });
      assert.equal(overGranted(this.config, this.permits.slice(-40)), undefined);
    }
  }
}

test("no permit is granted above any limit in any interval", () => {
  fc.assert(
    fc.property(
      anyGate,
      fc.array(move, { minLength: 10, maxLength: 80, size: "max" }),
      (config, moves) => {
        const world = new GateWorld(config);
        for (const one of moves) world.play(one);
      },
    ),
    { numRuns: 120 },
  );
});

test("under backlog a gate delivers 99 % of its rate, driven by nextWake alone", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.constantFrom(0.7, 3, 100, 999, 1500),
        fc.double({ min: 0.5, max: 3000, noNaN: true }),
      ),
      fc.integer({ min: 0, max: 20 }),
      fc.integer({ min: 1, max: 3 }),
      (rate, more, lanes) => {
        const drive = Drive.on("q");
        const burst = Math.ceil(1 + rate / 1000) + more;
        drive.engine.setGate("g", { rate, burst }, drive.now);
        const jobs = 1500 + burst;
        for (let lane = 0; lane < lanes; lane++) {
          drive.addMany("q", `${lane}`, Math.ceil(jobs / lanes), { gates: ["g"] });
        }
        const start = drive.now;
        let count = 0;
        drive.run(jobs, () => {
          count++;
          const due = Math.floor(burst + 0.99 * ((drive.now - start) / 1000) * rate);
          assert.ok(count >= due - burst, `${count} of ${due} after ${drive.now - start} ms`);
        });
        assert.ok(((drive.now - start) / 1000) * rate * 0.99 <= jobs, "in all");
      },
    ),
    { numRuns: 10 },
  );
});

test("a gate that opens at T dispatches at T, and nextWake announces T, not a time before", () => {
  fc.assert(
    fc.property(
      anyGate,
      fc.array(fc.record({ cost: fc.integer({ min: 1, max: COST_MAX }), tier: fc.nat(3) }), {
        minLength: 3,
        maxLength: 25,
        size: "max",
      }),
      fc.nat(400),
      (config, jobs, coolMs) => {
        const drive = Drive.on("q", { tiers: 1 });
        drive.engine.setGate("g", config, drive.now);
        for (const { cost } of jobs) drive.add("q", "lane", { cost, gates: ["g"] });
        drive.engine.cooldown("g", coolMs, "signal", drive.now);
        const opens = drive.now + coolMs;
        const permits: Permit[] = [];
        while (permits.length < jobs.length) {
          for (const taken of drive.dispatchNow()) {
            const { cost } = taken.mark;
            permits.push({ at: taken.at, cost, tier: 0, end: taken.at });
            assert.equal(overGranted(config, permits), undefined);
            drive.ack(taken);
          }
          const next = jobs[permits.length];
          if (next === undefined) break;
          const wake = drive.engine.nextWake(drive.now);
          if (wake <= drive.now) continue;
          assert.notEqual(wake, Number.POSITIVE_INFINITY, "no lost wake-up");
          drive.now = wake - 1;
          assert.deepEqual(drive.dispatchNow(), [], "nothing before its time");
          assert.equal(drive.engine.nextWake(drive.now), wake);
          const early = { at: wake - 1, cost: next.cost, tier: 0, end: wake };
          const isCool = wake - 1 < opens;
          // The bucket counts in thousandths of a token: it may round that much against the caller.
          const strict = { ...config, burst: (config.burst ?? 1) - 0.002 };
          const fault = overGranted(strict, [...permits, early]);
          assert.ok(isCool || fault !== undefined, "1 ms before it would have been too much");
          drive.now = wake;
          const taken = drive.next();
          assert.ok(taken !== undefined, "at its time it goes out");
          permits.push({ at: taken.at, cost: taken.mark.cost, tier: 0, end: taken.at });
          drive.ack(taken);
        }
      },
    ),
    { numRuns: 70 },
  );
});

test("a cooldown never gets shorter by a later, weaker signal", () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.record({
          by: fc.constantFrom("cooldown", "nack", "ladder", "success"),
          ms: fc.nat(2000),
          wait: fc.nat(300),
        }),
        { minLength: 3, maxLength: 30, size: "max" },
      ),
      (signals) => {
        const drive = Drive.on("q", { retry: { attempts: 100 } });
        drive.engine.setGate("g", { concurrency: 100, ladder: [100, 700, 1500] }, drive.now);
        drive.addMany("q", "lane", 60, { gates: ["g"] });
        const held = Array.from({ length: 30 }, () => drive.next()!);
        let until = 0;
        for (const { by, ms, wait } of signals) {
          const { engine, now } = drive;
          if (by === "cooldown") engine.cooldown("g", ms, "slow down", now);
          else if (by !== "nack") engine.reportGate("g", by === "success", now);
          else {
            const { id, lease } = held.pop()!;
            engine.nack(id, lease, now, { cooldown: { gate: "g", ms } });
          }
          const after = engine.queries.gateStats("g", now).cooldown?.until ?? 0;
          const told = by === "cooldown" || by === "nack" ? now + ms : 0;
          assert.ok(after >= (until > now ? until : 0), "not shorter");
          assert.ok(told <= now || after >= told, "at least the time of the last call");
          until = after;
          drive.now += wait;
          if (drive.now < until) assert.deepEqual(drive.dispatchNow(), []);
        }
      },
    ),
    { numRuns: 70 },
  );
});

const endings = ["ack", "nack", "cancel", "expiry", "give back"] as const;

test("permits are released by ack, nack, cancel, expiry and give back alike", () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...endings), { minLength: 1, maxLength: 20 }),
      fc.integer({ min: 1, max: 4 }),
      (hows, concurrency) => {
        const drive = Drive.on("q", {
          leaseMs: 1000,
          retry: { minMs: 1e6, maxMs: 1e6, attempts: 50 },
        });
        drive.engine.setGate("g", { concurrency }, drive.now);
        for (let i = 0; i < 100; i++) drive.add("q", `${i % 7}`, { gates: ["g"] });
        let running = drive.dispatchNow();
        for (const how of hows) {
          assert.equal(running.length, concurrency);
          const { engine } = drive;
          assert.equal(engine.queries.gateStats("g", drive.now).inFlight, concurrency);
          const { id, lease } = running[0]!;
          let ended = 1;
          if (how === "ack") engine.ack(id, lease, drive.now);
          else if (how === "nack") engine.nack(id, lease, drive.now);
          else if (how === "cancel") engine.cancel(id, drive.now);
          else if (how === "give back") engine.giveBack(id, lease, drive.now);
          else {
            drive.now = running[0]!.expiresAt;
            ended = running.filter(({ expiresAt }) => expiresAt <= drive.now).length;
          }
          const next = drive.dispatchNow();
          assert.equal(next.length, ended, `as many go out as ended by ${how}`);
          running = [...running.slice(ended), ...next];
        }
      },
    ),
    { numRuns: 50 },
  );
});
