import assert from "node:assert/strict";
import { test } from "node:test";
import { type Broker, type GateSettings, SluiceError } from "@sluice/protocol";
import { turningClock, turns } from "@sluice/protocol/testing";
import { MemoryDirectory } from "../directory.ts";
import { homeOfGate, homeOfQueue } from "../hash.ts";
import { LOOK_MS, QUESTION_MS } from "../limits.ts";
import { job, stage } from "../testing/stage.ts";
import { ClusterRouter } from "./cluster-router.ts";

const HOME = homeOfGate("smtp", 4);
const OTHER = (HOME + 1) % 4;

function queueIn(partition: number): string {
  for (let i = 0; ; i++) if (homeOfQueue(`q${i}`, 4) === partition) return `q${i}`;
}

test("new limits that cannot reach all partitions are refused, and none has them", async () => {
  const { cluster, router, clock } = stage();
  for (let partition = 0; partition < 4; partition++) await cluster.broker(partition);
  cluster.away.add(OTHER);
  await cluster.drop(OTHER, "close");
  const setting = router.setGate("smtp", { concurrency: 1 });
  const refusal = assert.rejects(setting, ({ code }: SluiceError) =>
    ["DISCONNECTED", "TIMEOUT"].includes(code),
  );
  await clock.advance(3 * QUESTION_MS);
  await refusal;
  for (let partition = 0; partition < 4; partition++) {
    if (partition === OTHER) continue;
    const { config } = await (await cluster.broker(partition)).gate("smtp");
    assert.equal(config, undefined, `partition ${partition}`);
  }
  cluster.away.clear();
  await clock.advance(QUESTION_MS);
  const { config, missing } = await router.setGate("smtp", { concurrency: 1 });
  assert.deepEqual([config?.concurrency, missing], [1, undefined]);
});

test("changed limits are in force even if one partition cannot be reached", async () => {
  const { cluster, router, clock } = stage();
  await router.setGate("smtp", { concurrency: 1 });
  cluster.away.add(OTHER);
  await cluster.drop(OTHER, "close");
  const setting = router.setGate("smtp", { concurrency: 2 }).catch((error) => error.code);
  await clock.advance(3 * QUESTION_MS);
  assert.ok(["DISCONNECTED", "TIMEOUT"].includes((await setting) as string));
  const looking = router.gate("smtp");
  await clock.advance(LOOK_MS);
  const { config, missing } = await looking;
  assert.deepEqual([config?.concurrency, missing], [2, [OTHER]]);
});

test("a charge counts at the gate's home, wherever the jobs of the gate are", async () => {
  const { cluster, router, clock } = stage();
  const queue = queueIn(OTHER);
  await router.setQueue(queue, {});
  await router.setGate("smtp", { rate: 10, burst: 10 });
  await router.chargeGate("smtp", 30);
  const { tokens } = await (await cluster.broker(HOME)).gate("smtp");
  assert.ok(tokens! <= -19, `${tokens} tokens`);
  await router.add(queue, [job("a", { gates: ["smtp"] })]);
  const lease = async (): Promise<number> => {
    const leasing = router.lease(queue, { max: 1 });
    await clock.advance(400);
    return (await leasing).length;
  };
  assert.equal(await lease(), 0);
  await clock.advance(2_000);
  assert.equal(await lease(), 1);
});

test("a partition that missed that limits are gone lets its jobs go on", async () => {
  const { cluster, router, clock } = stage();
  const queue = queueIn(OTHER);
  await router.setQueue(queue, {});
  await router.setGate("smtp", { rate: 0 });
  await router.add(queue, [job("a", { gates: ["smtp"] }), job("b", { gates: ["smtp"] })]);
  // The caller that deleted it died before it reached the others.
  await (await cluster.broker(HOME)).deleteGate("smtp");
  const { config } = await (await cluster.broker(OTHER)).gate("smtp");
  assert.equal(config?.rate, 0, "no one has told it");
  for (let i = 0; i < 2; i++) {
    const leasing = router.lease(queue, { max: 1, wait: 5_000 });
    await clock.advance(5_000);
    assert.equal((await leasing).length, 1);
  }
});

/** Ports of partitions that know of nothing but gates; `tell` is called before each change. */
function gatePorts(count: number, tell: (partition: number, key: string) => Promise<void>) {
  const configs = Array.from({ length: count }, () => new Map<string, GateSettings>());
  const ports = configs.map((own, partition) => ({
    gate: async (key: string) => ({ key, config: own.get(key), line: [] }),
    setGate: async (key: string, config: GateSettings) => {
      await tell(partition, key);
      own.set(key, config);
    },
    deleteGate: async (key: string) => {
      await tell(partition, key);
      own.delete(key);
    },
  })) as unknown as Broker[];
  const router = new ClusterRouter({
    directory: new MemoryDirectory(count),
    partitions: { port: (partition) => ports[partition]!, close: async () => {} },
    clock: turningClock(5),
  });
  return { configs, router };
}

test("all others have new limits before their home has, and lose them after it has", async () => {
  const told: number[] = [];
  const { router } = gatePorts(4, async (partition) => void told.push(partition));
  await router.setGate("smtp", { rate: 1 });
  assert.deepEqual(told.indexOf(HOME), 3);
  assert.equal(told.length, 4);
  told.length = 0;
  await router.deleteGate("smtp");
  assert.deepEqual(told.indexOf(HOME), 0);
  assert.equal(told.length, 4);
});

test("a gate that is set and deleted at once is the same everywhere after it", async () => {
  for (let seed = 1; seed <= 200; seed++) {
    let state = seed;
    const random = (most: number): number => {
      state = (state * 48_271) % 2_147_483_647;
      return state % most;
    };
    const { configs, router } = gatePorts(4, () => turns(random(6)));
    const calls = [
      router.setGate("smtp", { rate: 1 }),
      turns(random(12)).then(() => router.deleteGate("smtp")),
      turns(random(12)).then(() => router.setGate("smtp", { rate: 2 })),
    ];
    await Promise.all(calls);
    const rates = configs.map((own) => own.get("smtp")?.rate);
    assert.equal(new Set(rates).size, 1, `seed ${seed}: ${rates}`);
  }
});

test("limits that cannot be are refused as such, though a partition is away", async () => {
  const { router } = gatePorts(4, async (partition) => {
    const code = partition === OTHER ? "MOVED" : "INVALID";
    throw new SluiceError(code, "no");
  });
  await assert.rejects(router.setGate("smtp", { rate: -1 }), { code: "INVALID" });
});
