import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryLog } from "@sluice/log";
import type { Broker, LeasedJob } from "@sluice/protocol";
import { turningClock } from "@sluice/protocol/testing";
import { type LocalBroker, openBroker } from "../broker.ts";
import { bytes, idOfAdded, job, text } from "../testing/opened.ts";
import { COUNT, HOMES } from "../testing/part-homes.ts";
import { type Divided, divideLog } from "./divide-log.ts";

const DAY_MS = 86_400_000;

interface Cut {
  readonly parts: readonly LocalBroker[];
  readonly divided: Divided;
  /** The partition that has the job. */
  of(id: string): Promise<LocalBroker>;
}

const clock = turningClock(5);

/** Divides what a broker holds once `fill` is over, and opens all parts. */
async function cut(fill: (broker: LocalBroker) => Promise<void>): Promise<Cut> {
  const log = new MemoryLog({ segmentBytes: 256 * 1024 });
  const broker = await openBroker({ log, clock });
  await fill(broker);
  await broker.close();
  return divide(log);
}

async function divide(log: MemoryLog): Promise<Cut> {
  const logs = Array.from({ length: COUNT }, () => new MemoryLog());
  for (const part of logs) for await (const _ of part.replay());
  const source = new MemoryLog({ after: log });
  const divided = await divideLog({ log: source, homes: HOMES, parts: logs });
  await source.close();
  for (const part of logs) await part.close();
  const names = logs.map((_, i) => String(i));
  const parts: LocalBroker[] = [];
  for (const [i, part] of logs.entries()) {
    const others = names.filter((name) => name !== String(i));
    parts.push(
      await openBroker({
        log: new MemoryLog({ after: part }),
        clock,
        isRestored: true,
        homes: {
          name: String(i),
          others,
          homeOf: (gate) => String(HOMES.homeOfGate(gate)),
          lend: (home, request) => parts[Number(home)]!.lend(request),
        },
      }),
    );
  }
  const of = async (id: string): Promise<LocalBroker> => {
    const holders: LocalBroker[] = [];
    for (const part of parts) {
      const found = await part.job(id).catch(() => undefined);
      if (found !== undefined) holders.push(part);
    }
    assert.equal(holders.length, 1, `${id} is in ${holders.length} partitions`);
    return holders[0]!;
  };
  return { parts, divided, of };
}

async function close({ parts }: Cut): Promise<void> {
  for (const part of parts) await part.close();
}

async function addTo(
  broker: Broker,
  queue: string,
  ...jobs: ReturnType<typeof job>[]
): Promise<string[]> {
  const outcomes = await broker.add(queue, jobs);
  return outcomes.map((outcome) => idOfAdded([outcome]));
}

const texts = (jobs: readonly LeasedJob[]): string[] => jobs.map(({ payload }) => text(payload));

test("each job is in the partition of its queue, with all that is known of it", async () => {
  let ids: string[] = [];
  let ended = "";
  const whole = await cut(async (broker) => {
    for (const name of ["q0", "q1", "q2"]) await broker.setQueue(name, { retry: { attempts: 3 } });
    ids = [
      ...(await addTo(broker, "q0", job("a"))),
      ...(await addTo(broker, "q1", job("failed"), job("b"), job("later", { delayMs: DAY_MS }))),
      ...(await addTo(broker, "q2", job("c", { headers: { who: "me" }, fairnessKey: ["x", "y"] }))),
    ];
    const [failed, done] = await broker.lease("q1", { max: 2 });
    await broker.nack([{ lease: failed!.lease, error: "busy", delayMs: 0 }]);
    await broker.ack([{ lease: done!.lease, result: bytes("the result") }]);
    ended = done!.id;
  });
  const { parts, of, divided } = whole;
  assert.deepEqual(divided.queues, {});
  for (const [id, part] of [
    [ids[0]!, 0],
    [ids[1]!, 1],
    [ids[3]!, 1],
    [ids[4]!, 2],
  ] as const) {
    assert.equal(await of(id), parts[part]);
  }
  const [again] = await parts[1]!.lease("q1", { max: 5 });
  assert.deepEqual([text(again!.payload), again!.attempt], ["failed", 1]);
  assert.equal((await parts[1]!.job(ids[3]!)).state, "delayed");
  assert.equal(text((await parts[1]!.job(ended)).result!), "the result");
  const [far] = await parts[2]!.lease("q2", { max: 5 });
  assert.deepEqual([far!.headers, far!.fairnessKey], [{ who: "me" }, ["x", "y"]]);
  // What is added now gets an id that no job has had.
  const [added] = await addTo(parts[0]!, "q0", job("new"));
  assert.ok(!ids.includes(added!));
  const counts = await Promise.all(parts.map(async (part) => (await part.queues()).items));
  const all = counts.flat().filter(({ name }) => name === "q1");
  assert.deepEqual(
    all.map(({ stats }) => [stats.finished, stats.failed]),
    [[1, 0]],
  );
  await close(whole);
});

test("lanes keep the order of their jobs, over many batches of the log", async () => {
  const whole = await cut(async (broker) => {
    await broker.setQueue("q0", {});
    await broker.setQueue("q1", { results: { jobs: 0 } });
    for (let i = 0; i < 400; i++) {
      const filler = "x".repeat(4_000);
      const lane = { fairnessKey: `lane ${i % 7}` };
      await addTo(broker, "q0", job(`${i} ${filler}`, lane));
      await addTo(broker, "q1", job(filler), job(filler));
      const done = await broker.lease("q1", { max: 2 });
      await broker.ack(done.map(({ lease }) => ({ lease })));
    }
  });
  const taken = await whole.parts[0]!.lease("q0", { max: 1_000 });
  assert.equal(taken.length, 400);
  for (let lane = 0; lane < 7; lane++) {
    const own = taken.filter(({ fairnessKey }) => String(fairnessKey) === `lane ${lane}`);
    const order = texts(own).map((one) => Number(one.split(" ")[0]));
    assert.deepEqual(
      order,
      order.toSorted((a, b) => a - b),
    );
    assert.ok(own.length >= 57);
  }
  await close(whole);
});

test("dead letters are where their queue is, although all die into one", async () => {
  const letters: string[] = [];
  const whole = await cut(async (broker) => {
    for (const queue of ["q1", "q2"]) {
      await broker.setQueue(queue, { dlq: "dead", retry: { attempts: 1 } });
      await addTo(broker, queue, job(`of ${queue}`));
      const [taken] = await broker.lease(queue, { max: 1 });
      await broker.nack([{ lease: taken!.lease, error: "no" }]);
      letters.push(taken!.id);
    }
  });
  const { parts, of, divided } = whole;
  assert.deepEqual(divided.queues.dead?.toSorted(), [1, 2]);
  for (const [i, id] of letters.entries()) assert.equal(await of(id), parts[i + 1]);
  assert.equal(await parts[1]!.redrive("dead", {}), 1);
  assert.deepEqual(texts(await parts[1]!.lease("q1", { max: 5 })), ["of q1"]);
  await close(whole);
});

test("queues whose jobs wait for each other are in one partition", async () => {
  let waiting = "";
  const whole = await cut(async (broker) => {
    for (const queue of ["q1", "q2", "q0"]) await broker.setQueue(queue, {});
    const child = { queue: "q2", ...job("child") };
    const after = [{ job: 0 }];
    const { jobs } = await broker.addFlow("q1", [child, { queue: "q1", ...job("parent"), after }]);
    waiting = jobs[1]!.id;
    await addTo(broker, "q0", job("alone"));
  });
  const { of, divided } = whole;
  const home = await of(waiting);
  const [child] = await home.lease("q2", { max: 1 });
  await home.ack([{ lease: child!.lease, result: bytes("from the child") }]);
  const [parent] = await home.lease("q1", { max: 1 });
  assert.equal(parent!.id, waiting);
  const { items } = await home.dependencies(waiting);
  assert.equal(text(items[0]!.result!), "from the child");
  const [place] = divided.queues.q1 ?? divided.queues.q2 ?? [];
  assert.equal(whole.parts[place!], home);
  assert.equal(divided.queues.q0, undefined);
  await close(whole);
});

test("jobs that run hold their gate at its home, wherever they are", async () => {
  let leases: string[] = [];
  const whole = await cut(async (broker) => {
    await broker.setGate("gate2", { concurrency: 3 });
    for (const queue of ["q1", "q2"]) {
      await broker.setQueue(queue, { lease: "1h" });
      const held = job("behind", { gates: ["gate2"] });
      await addTo(broker, queue, held, held, held);
    }
    leases = (await broker.lease("q1", { max: 2 })).map(({ id }) => id);
  });
  const { parts } = whole;
  assert.equal(leases.length, 2);
  assert.equal((await parts[2]!.lease("q2", { max: 5 })).length, 1);
  assert.equal((await parts[1]!.lease("q1", { max: 5 })).length, 0);
  await close(whole);
});

test("stores, limits of gates, schedules, keys and groups are where a cluster looks", async () => {
  const members: string[] = [];
  const whole = await cut(async (broker) => {
    for (const queue of ["q1", "q2"]) await broker.setQueue(queue, {});
    await broker.storeWrite("notes1", [{ key: "a", value: "b" }]);
    await broker.storeWrite("config", [{ key: "limit", value: 7 }]);
    await broker.setGate("gate1", { windows: [{ limit: 5, per: DAY_MS }] });
    await addTo(broker, "q1", job("paced", { gates: ["gate1"] }));
    await broker.lease("q1", { max: 1 });
    await broker.setSchedule("q2", "nightly", { every: DAY_MS, options: {} });
    const once = job("once", { dedupe: { key: "k", mode: "window", windowMs: DAY_MS } });
    const [first] = await addTo(broker, "q2", once);
    const [taken] = await broker.lease("q2", { max: 1 });
    await broker.ack([{ lease: taken!.lease }]);
    members.push(first!);
    for (const queue of ["q1", "q2"]) {
      members.push(...(await addTo(broker, queue, job("member", { group: "all" }))));
    }
  });
  const { parts } = whole;
  const values = await Promise.all(
    parts.map(async (part) => [
      (await part.storeGet("notes1", ["a"]))[0],
      (await part.storeGet("config", ["limit"]))[0],
    ]),
  );
  assert.deepEqual(values, [
    [undefined, 7],
    ["b", 7],
    [undefined, 7],
  ]);
  assert.equal((await parts[1]!.gate("gate1")).windows?.[0]?.used, 1);
  for (const part of parts) {
    assert.deepEqual((await part.gate("gate1")).config?.windows, [{ limit: 5, per: DAY_MS }]);
  }
  assert.deepEqual(
    await Promise.all(parts.map(async (part) => (await part.schedules()).items.length)),
    [0, 0, 1],
  );
  const [twice] = await parts[2]!.add("q2", [
    job("again", { dedupe: { key: "k", mode: "window", windowMs: DAY_MS } }),
  ]);
  assert.equal(twice!.ok?.id, members[0]);
  for (const [i, part] of [parts[1]!, parts[2]!].entries()) {
    const { members: own } = await part.group(`q${i + 1}/all`);
    assert.deepEqual(
      own.map(({ id }) => id),
      [members[i + 1]],
    );
  }
  await close(whole);
});

test("a call that is repeated after the division is answered as before", async () => {
  let first = "";
  const whole = await cut(async (broker) => {
    await broker.setQueue("q1", {});
    first = idOfAdded(await broker.add("q1", [job("x")], { operationId: "once" }));
  });
  const again = await whole.parts[1]!.add("q1", [job("x")], { operationId: "once" });
  assert.equal(idOfAdded(again), first);
  assert.equal((await whole.parts[1]!.queue("q1")).stats.waiting, 1);
  await close(whole);
});

test("steps and signals of a job come along with their values", async () => {
  let id = "";
  const whole = await cut(async (broker) => {
    await broker.setQueue("q2", { lease: "1h" });
    [id = ""] = await addTo(broker, "q2", job("in steps"));
    const [taken] = await broker.lease("q2", { max: 1 });
    await broker.recordStep([
      { lease: taken!.lease, name: "charge", occurrence: 0, value: "paid" },
    ]);
    await broker.signal(id, "go", "now");
  });
  const { items, signals } = await (await whole.of(id)).steps(id);
  assert.deepEqual(
    items.map(({ name, value }) => [name, value]),
    [["charge", "paid"]],
  );
  assert.deepEqual(
    signals.map(({ name }) => name),
    ["go"],
  );
  await close(whole);
});
