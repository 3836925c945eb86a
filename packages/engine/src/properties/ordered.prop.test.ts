import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { QueueChange } from "../testing/test-engine.ts";
import { rebuilt } from "../testing/test-engine.ts";
import type { Lease } from "../types.ts";
import { Drive } from "./drive.ts";

const QUEUE: QueueChange = {
  ordered: true,
  tiers: 2,
  leaseMs: 200,
  promoteAfterMs: 900,
  retry: { attempts: 3, minMs: 20, maxMs: 60 },
  results: { jobs: 1000, ms: 600_000 },
};

type Move =
  | { do: "add"; lane: string; tier: number; delayMs?: number; gates?: string[]; ttlMs?: number }
  | { do: "ack" | "nack" | "die" | "give" | "cancel"; n: number }
  | { do: "redrive" | "purge" | "restart"; n: number };

const move: fc.Arbitrary<Move> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record(
      {
        do: fc.constant("add" as const),
        lane: fc.constantFrom("x", "y"),
        tier: fc.nat(1),
        delayMs: fc.nat(100),
        gates: fc.subarray(["rate", "places"]),
        ttlMs: fc.integer({ min: 50, max: 2000 }),
      },
      { requiredKeys: ["do", "lane", "tier"] },
    ),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constantFrom("ack" as const, "nack", "die", "give", "cancel"),
      n: fc.nat(20),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constantFrom("redrive" as const, "purge", "restart"),
      n: fc.constant(0),
    }),
  },
);

class World {
  drive = new Drive({ tells: true });
  readonly #facts = this.drive.facts;
  held: Lease[] = [];
  added = 0;

  constructor() {
    this.drive.open("q", QUEUE);
    this.drive.engine.setGate("rate", { rate: 20, burst: 2 }, this.drive.now);
    this.drive.engine.setGate("places", { concurrency: 1 }, this.drive.now);
  }

  play(one: Move): void {
    const { engine, now } = this.drive;
    if (one.do === "add") {
      const { do: _, lane, tier, ...spec } = one;
      engine.add("q", { ...spec, fairnessKey: lane, priority: tier }, now);
      this.added++;
    } else if (one.do === "redrive") {
      if (engine.queries.queueNames().includes("q.dlq")) engine.redrive("q.dlq", {}, now);
    } else if (one.do === "purge") engine.purge("q", now);
    else if (one.do === "restart") this.#restart();
    else if (one.do === "cancel") {
      if (this.added > 0) engine.cancel(1 + (one.n % this.added), now);
    } else this.#end(one.do, one.n);
  }

  #end(how: "ack" | "nack" | "die" | "give", n: number): void {
    const { engine, now } = this.drive;
    const [lease] = this.held.splice(n % Math.max(1, this.held.length), 1);
    if (lease === undefined) return;
    const { id, lease: number } = lease;
    try {
      if (how === "ack") engine.ack(id, number, now);
      else if (how === "give") engine.giveBack(id, number, now);
      else engine.nack(id, number, now, how === "die" ? { unrecoverable: true } : {});
    } catch {
      // The lease was over, or the job cancelled.
    }
  }

  #restart(): void {
    const engine = rebuilt(this.#facts);
    const { now } = this.drive;
    this.drive = new Drive({ engine });
    this.drive.now = now;
    engine.want("q", "w", 1_000_000, now);
  }
}

/** Of each lane and tier at most one job is out, delayed or in its strand: the oldest. */
function assertOrder({ drive, added }: World): void {
  const running = new Map<string, number>();
  for (let id = 1; id <= added; id++) {
    const job = drive.engine.queries.job(id);
    if (job?.queue !== "q" || job.state !== "running") continue;
    const lane = `${job.fairnessKey} ${job.tier}`;
    assert.equal(running.get(lane), undefined, `${lane}: ${running.get(lane)} and ${id} run`);
    running.set(lane, id);
  }
}

test("an ordered lane never has two jobs out, and all of it goes out in the end", () => {
  const moves = fc.array(fc.record({ move, wait: fc.nat(60) }), { minLength: 5, maxLength: 80 });
  fc.assert(
    fc.property(moves, (list) => {
      const world = new World();
      let isRestarted = false;
      for (const one of list) {
        // A second life would need the facts of both: one restart a world is enough.
        if (one.move.do === "restart" && isRestarted) continue;
        isRestarted ||= one.move.do === "restart";
        world.play(one.move);
        world.held.push(...world.drive.dispatchNow(3));
        assertOrder(world);
        world.drive.now += one.wait;
      }
      const { drive } = world;
      for (let i = 0; i < 400; i++) {
        for (const { id, lease } of world.held.splice(0)) {
          try {
            drive.engine.ack(id, lease, drive.now);
          } catch {
            // It was over.
          }
        }
        world.held.push(...drive.dispatchNow());
        assertOrder(world);
        drive.now = Math.max(
          drive.now + 1,
          Math.min(drive.engine.nextWake(drive.now), drive.now + 500),
        );
      }
      const { waiting, delayed, running } = drive.engine.queries.queueStats("q");
      assert.deepEqual([waiting, delayed, running], [0, 0, 0]);
    }),
    { numRuns: 150, interruptAfterTimeLimit: 10_000 },
  );
});
