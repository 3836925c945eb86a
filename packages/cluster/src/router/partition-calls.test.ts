import assert from "node:assert/strict";
import { test } from "node:test";
import { type Broker, SluiceError } from "@sluice/protocol";
import { turningClock } from "@sluice/protocol/testing";
import { MemoryDirectory } from "../directory.ts";
import { homeOfGate, homeOfQueue } from "../hash.ts";
import { LOOK_MS, QUESTION_MS } from "../limits.ts";
import { job, stage } from "../testing/stage.ts";
import { PartitionCalls } from "./partition-calls.ts";

function queueIn(partition: number): string {
  for (let i = 0; ; i++) if (homeOfQueue(`q${i}`, 4) === partition) return `q${i}`;
}

/** Three partitions, of which each answers when its gate is opened, or at once. */
function scene() {
  const clock = turningClock(5);
  const held = new Map<number, PromiseWithResolvers<void>>();
  const ports = [0, 1, 2].map((partition) => ({
    queues: async () => {
      await held.get(partition)?.promise;
      return [];
    },
  })) as unknown as Broker[];
  const calls = new PartitionCalls({
    directory: new MemoryDirectory(3),
    partitions: { port: (partition) => ports[partition]!, close: async () => {} },
    clock,
  });
  const look = async () => {
    const began = clock.now();
    const { seen, missing } = await calls.look(calls.all, [], (port) => port.queues());
    return { seen: seen.map(({ partition }) => partition), missing, ms: clock.now() - began };
  };
  return { clock, held, look };
}

test("a look waits a little for late partitions, then it names them", async () => {
  const { clock, held, look } = scene();
  assert.deepEqual(await look(), { seen: [0, 1, 2], missing: [], ms: 0 });
  held.set(1, Promise.withResolvers());
  const looking = look();
  await clock.advance(LOOK_MS);
  assert.deepEqual(await looking, { seen: [0, 2], missing: [1], ms: LOOK_MS });
});

test("a partition that was missed is not waited for again, until it has answered", async () => {
  const { clock, held, look } = scene();
  const late = Promise.withResolvers<void>();
  held.set(1, late);
  const looking = look();
  await clock.advance(LOOK_MS);
  await looking;
  assert.deepEqual(await look(), { seen: [0, 2], missing: [1], ms: 0 });
  late.resolve();
  await clock.advance(1);
  assert.deepEqual(await look(), { seen: [0, 1, 2], missing: [], ms: 0 });
});

test("a look without answers waits for the first one, and is refused if none comes", async () => {
  const { clock, held, look } = scene();
  for (const partition of [0, 1, 2]) held.set(partition, Promise.withResolvers());
  const looking = look();
  await clock.advance(LOOK_MS + 1_000);
  held.get(2)!.resolve();
  assert.deepEqual(await looking, { seen: [2], missing: [0, 1], ms: LOOK_MS + 1_000 });
  held.set(2, Promise.withResolvers());
  const refusal = assert.rejects(look(), { code: "TIMEOUT" });
  await clock.advance(QUESTION_MS);
  await refusal;
});

test("what a partition refuses is refused, and is no partition that is missing", async () => {
  const clock = turningClock(5);
  const port = {
    queues: async () => {
      throw new SluiceError("FORBIDDEN", "not for you");
    },
  } as unknown as Broker;
  const partitions = { port: () => port, close: async () => {} };
  const calls = new PartitionCalls({ directory: new MemoryDirectory(2), partitions, clock });
  await assert.rejects(
    calls.look(calls.all, [], (one) => one.queues()),
    { code: "FORBIDDEN" },
  );
});

test("stats, gates and partial lists name the partitions that are missing, soon", async () => {
  const { cluster, router, clock } = stage();
  await router.setQueue("q", { spread: 4 });
  await router.setGate("smtp", { rate: 1 });
  cluster.away.add(2);
  await cluster.drop(2, "close");
  const strict = router.queues().then(
    () => "answered",
    ({ code }) => code,
  );
  const looks = Promise.all([
    router.stats({ queues: ["q"] }),
    router.gates(),
    router.queues({ partial: true }),
  ]);
  await clock.advance(LOOK_MS);
  const [stats, gates, queues] = await looks;
  assert.deepEqual([stats.missing, gates.missing], [[2], [2]]);
  assert.deepEqual([stats.queues.length, gates.items.length], [1, 1]);
  assert.deepEqual(
    queues.items.map(({ name }) => name),
    ["q"],
  );
  await clock.advance(2 * QUESTION_MS);
  assert.match(await strict, /DISCONNECTED|TIMEOUT/);
  cluster.away.clear();
  await clock.advance(QUESTION_MS);
  await router.stats();
  await clock.advance(1);
  assert.equal("missing" in (await router.stats()), false);
});

test("says why a job waits even if the home of its gate is away", async () => {
  const { cluster, router, clock } = stage();
  const home = homeOfGate("smtp", 4);
  const queue = queueIn((home + 1) % 4);
  await router.setQueue(queue, {});
  await router.setGate("smtp", { rate: 0 });
  const [added] = await router.add(queue, [job("x", { gates: ["smtp"] })]);
  await clock.advance(100);
  cluster.away.add(home);
  await cluster.drop(home, "close");
  const asking = router.why(added!.ok!.id);
  await clock.advance(LOOK_MS);
  const why = await asking;
  assert.deepEqual([why.state, "gate" in why && why.gate], ["waiting", "smtp"]);
});
