import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Drive, type Taken } from "./drive.ts";
import { LaneShares, Lead } from "./shares.ts";

const returns = ["nack", "cooldown", "expiry", "give back"] as const;

interface Return {
  how: (typeof returns)[number];
  which: number;
  dispatches: number;
}

/**
 * Strands as the rule has them: a retried job enters at the back; one given back keeps its
 * age and so goes to the front, behind older ones that were given back before it.
 */
class Strands {
  readonly drive = new Drive();
  readonly #strands = new Map<string, { id: number; age: number }[]>();
  readonly #ages = new Map<number, number>();
  #age = 0;
  readonly #running: Taken[] = [];

  constructor(jobs: readonly { lane: number; tier: number; gated: boolean }[]) {
    const retry = { attempts: 100, minMs: 0, maxMs: 0, jitter: 0 };
    this.drive.open("q", { leaseMs: 1000, retry });
    this.drive.engine.setGate("g", { concurrency: 100_000 }, this.drive.now);
    for (const { lane, tier, gated } of jobs) {
      const gates = gated ? ["g"] : [];
      const mark = { lane: `${tier}.${lane}${gated ? "g" : ""}`, weight: 1, cost: 1 };
      const spec = { fairnessKey: `${lane}`, priority: tier, gates, body: mark };
      const id = this.drive.engine.add("q", spec, this.drive.now).id;
      this.#enter(mark.lane, id, ++this.#age);
    }
  }

  #enter(key: string, id: number, age: number): void {
    const strand = this.#strands.get(key) ?? [];
    this.#strands.set(key, strand);
    this.#ages.set(id, age);
    strand.push({ id, age });
    strand.sort((a, b) => a.age - b.age);
  }

  dispatch(count: number): void {
    for (let i = 0; i < count; i++) {
      const taken = this.drive.next();
      if (taken === undefined) return;
      const first = this.#strands.get(taken.mark.lane)!.shift();
      assert.equal(taken.id, first?.id, "the first of its strand");
      assert.equal(`${taken.tier}`, taken.mark.lane[0], "in its tier");
      const { fairnessKey } = this.drive.engine.queries.job(taken.id)!;
      assert.equal(fairnessKey, /\.(\d+)/.exec(taken.mark.lane)![1], "in its lane");
      this.#running.push(taken);
      // No two leases run out at the same time, so that their order is known.
      this.drive.now++;
    }
  }

  back({ how, which }: Return): void {
    const { engine, now } = this.drive;
    if (this.#running.length === 0) return;
    if (how === "expiry") return this.#expire();
    const [taken] = this.#running.splice(which % this.#running.length, 1);
    const { id, lease, mark } = taken!;
    if (how === "give back") {
      engine.giveBack(id, lease, now);
      this.#enter(mark.lane, id, this.#ages.get(id)!);
      return;
    }
    if (how === "nack") engine.nack(id, lease, now, { delayMs: 0 });
    else engine.nack(id, lease, now, { delayMs: 0, cooldown: { gate: "elsewhere", ms: 5 } });
    this.#enter(mark.lane, id, ++this.#age);
  }

  /** All leases run out, the oldest first. */
  #expire(): void {
    const until = Math.max(...this.#running.map(({ expiresAt }) => expiresAt));
    this.drive.now = until;
    this.drive.engine.tick(until);
    this.#running.sort((a, b) => a.expiresAt - b.expiresAt || a.id - b.id);
    for (const { id, mark } of this.#running) this.#enter(mark.lane, id, ++this.#age);
    this.#running.length = 0;
  }
}

test("a retried or expired job goes to the back of its strand, one given back to the front", () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ lane: fc.nat(2), tier: fc.nat(1), gated: fc.boolean() }), {
        minLength: 2,
        maxLength: 25,
        size: "max",
      }),
      fc.array(
        fc.record({ how: fc.constantFrom(...returns), which: fc.nat(9), dispatches: fc.nat(6) }),
        { minLength: 2, maxLength: 30, size: "max" },
      ),
      (jobs, moves) => {
        const strands = new Strands(jobs);
        for (const move of moves) {
          strands.dispatch(move.dispatches);
          strands.back(move);
        }
        strands.dispatch(100);
      },
    ),
    { numRuns: 80 },
  );
});

test("on a path a job's weight sets the last level, the policy sets those above", () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 4 }), {
        minLength: 2,
        maxLength: 4,
      }),
      fc.array(fc.option(fc.integer({ min: 2, max: 5 })), { minLength: 4, maxLength: 4 }),
      (tenants, policy) => {
        const drive = new Drive();
        const rules: Record<string, number> = {};
        tenants.forEach((_, t) => {
          if (policy[t]) rules[`t${t}`] = policy[t];
        });
        drive.open("q", { weights: rules });
        const top = new LaneShares();
        const below = tenants.map(() => new LaneShares());
        tenants.forEach((users, t) => {
          top.watch(`${t}`, rules[`t${t}`] ?? 1);
          users.forEach((weight, u) => {
            below[t]!.watch(`${u}`, weight);
            drive.addMany("q", `${t}/${u}`, 250, { fairnessKey: [`t${t}`, `u${u}`], weight });
          });
        });
        drive.run(240, ({ mark }) => {
          const [tenant, user] = mark.lane.split("/");
          top.serve(tenant!);
          below[Number(tenant)]!.serve(user!);
          assert.ok(top.excess() <= 0 && below.every((shares) => shares.excess() <= 0));
        });
      },
    ),
    { numRuns: 20 },
  );
});

test("when jobs of one lane disagree on the weight the latest wins", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 5 }),
      fc.integer({ min: 1, max: 20 }),
      fc.boolean(),
      (earlier, latest, byHand) => {
        const drive = Drive.on("q");
        drive.addMany("q", "plain", 600);
        for (const weight of earlier) drive.addMany("q", "lane", 600, { weight });
        if (byHand) drive.engine.setLaneWeight("q", "lane", latest, drive.now);
        else drive.add("q", "lane", { weight: latest });
        const shares = new LaneShares();
        shares.watch("plain", 1);
        shares.watch("lane", latest);
        drive.run(500, ({ mark }) => {
          shares.serve(mark.lane);
          assert.ok(shares.excess() <= 0);
        });
        const { lanes } = drive.engine.queries.lanes("q");
        assert.equal(lanes.find(({ key }) => key === "lane")?.weight, latest);
      },
    ),
    { numRuns: 20 },
  );
});

for (const where of ["in the ring", "behind a gate"]) {
  test(`toggling the weight gains nothing, ${where}`, () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ weight: fc.constantFrom(1, 2, 3, 10, 100), after: fc.nat(4) }), {
          minLength: 20,
          maxLength: 120,
          size: "max",
        }),
        (toggles) => {
          const most = Math.max(...toggles.map(({ weight }) => weight));
          const drive = Drive.on("q");
          const gates = where === "behind a gate" ? ["g"] : [];
          drive.engine.setGate("g", { rate: 100, burst: 1 }, drive.now);
          drive.addMany("q", "honest", 3000, { weight: most, gates });
          drive.addMany("q", "toggler", 3000, { weight: 1, gates });
          const lead = new Lead();
          for (const { weight, after } of toggles) {
            drive.add("q", "toggler", { weight, gates });
            // It never gets more than a lane that has the largest of its weights all the time.
            drive.run(after, ({ mark }) => {
              lead.gain(mark.lane === "toggler" ? 1 / most : -1 / most);
              assert.ok(lead.most <= 2);
            });
          }
        },
      ),
      { numRuns: 25 },
    );
  });
}
