import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Queue, Sluice } from "sluice";
import { TestCluster } from "../testing/cluster.ts";

const QUEUES = ["mail", "images", "reports", "sync", "billing", "search"];
const LEASE_MS = 3_000;

// Adds and works all the time; every add that was confirmed must be worked off.
class Load {
  readonly #queues: readonly Queue<number>[];
  readonly #added = new Set<number>();
  readonly #done = new Map<number, number>();
  readonly #adding: readonly Promise<void>[];
  #isOver = false;
  #next = 0;
  longestMs = 0;
  readonly errors: unknown[] = [];

  private constructor(queues: readonly Queue<number>[]) {
    this.#queues = queues;
    for (const queue of queues) {
      queue.work(
        async ({ payload }) => void this.#done.set(payload, (this.#done.get(payload) ?? 0) + 1),
        { concurrency: 4 },
      );
    }
    this.#adding = queues.map((queue) => this.#add(queue));
  }

  static async start(sluice: Sluice): Promise<Load> {
    const queues = QUEUES.map((name) => sluice.queue<number>(name, { lease: "10s" }));
    return new Load(await Promise.all(queues));
  }

  async #add(queue: Queue<number>): Promise<void> {
    while (!this.#isOver) {
      const number = this.#next++;
      const since = performance.now();
      try {
        await queue.add(number);
        this.#added.add(number);
      } catch (error) {
        this.errors.push(error);
      }
      this.longestMs = Math.max(this.longestMs, performance.now() - since);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  get added(): number {
    return this.#added.size;
  }

  // Resolves when all that was confirmed is worked off.
  async finish(t: TestContext): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#adding);
    const endAt = Date.now() + 40_000;
    const missing = (): number[] => [...this.#added].filter((number) => !this.#done.has(number));
    while (missing().length > 0 && Date.now() < endAt) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    const again = [...this.#done.values()].filter((count) => count > 1).length;
    t.diagnostic(
      `${this.#added.size} confirmed, ${this.errors.length} refused, ${again} delivered again, ` +
        `the slowest add took ${Math.round(this.longestMs)} ms`,
    );
    assert.deepEqual(missing(), []);
    await Promise.all(this.#queues.map((queue) => queue.stats()));
  }
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

test("a node frozen beyond its lease is replaced, and harmless when it wakes", async (t) => {
  const cluster = await TestCluster.start(t);
  const load = await Load.start(await cluster.connect());
  const node = cluster.node("b");
  node.freeze();
  await wait(2 * LEASE_MS);
  node.thaw();
  await wait(1_000);
  await cluster.settled();
  await load.finish(t);
  assert.deepEqual(load.errors, []);
});

test("a node cut off from NATS is replaced, and comes back", async (t) => {
  const cluster = await TestCluster.start(t);
  const load = await Load.start(await cluster.connect());
  const node = cluster.node("b");
  node.cutFromNats();
  await wait(2 * LEASE_MS);
  node.healNats();
  await wait(1_000);
  await cluster.settled();
  await load.finish(t);
  assert.deepEqual(load.errors, []);
});

test("without a majority of NATS writes are refused, and go on when it is back", async (t) => {
  const cluster = await TestCluster.start(t);
  const load = await Load.start(await cluster.connect());
  await cluster.nats.kill(0);
  await cluster.nats.kill(1);
  await wait(16_000);
  const refused = load.errors.length;
  assert.ok(refused > 0, "nothing was refused");
  t.diagnostic(String(load.errors[0]));
  const before = load.added;
  await cluster.nats.restart(0);
  await cluster.nats.restart(1);
  await cluster.nats.ready();
  await cluster.settled();
  await wait(1_000);
  assert.ok(load.added > before, "writes do not go on");
  await load.finish(t);
});

test("a node cut off from the others, but not from NATS, gives its partitions away", async (t) => {
  const cluster = await TestCluster.start(t);
  const load = await Load.start(await cluster.connect());
  const node = cluster.node("b");
  node.cutFromPeers();
  await cluster.settled([cluster.node("a"), cluster.node("c")]);
  await wait(1_000);
  node.healPeers();
  await cluster.settled();
  await load.finish(t);
  assert.deepEqual(load.errors, []);
});
