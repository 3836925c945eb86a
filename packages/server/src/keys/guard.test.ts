import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import {
  type Broker,
  type BrokerEvent,
  type LeasedJob,
  roleGrants,
  type SluiceError,
} from "@sluice/protocol";
import { memoryBroker } from "../testing/start.ts";
import type { Action, Grant } from "./grant.ts";
import { guard } from "./guard.ts";
import { type Principal, unauthorized } from "./principal.ts";
import { KEYS_STORE } from "./rights.ts";

const payload = new TextEncoder().encode("{}");

/** `principal("produce orders", "consume * smtp bank.*")`: an action, a queue and gates. */
function principal(...texts: string[]): Principal & { isRevoked: boolean } {
  const grants = texts.map((text): Grant => {
    const [action, on, ...gates] = text.split(" ");
    const grant = { action: action as Action, on: on! };
    return gates.length === 0 ? grant : { ...grant, gates };
  });
  return {
    id: texts.join(),
    isRevoked: false,
    charge() {},
    grants() {
      if (this.isRevoked) throw unauthorized("the key is not valid");
      return grants;
    },
  };
}

async function place(t: TestContext): Promise<Broker> {
  const broker = await memoryBroker(t);
  for (const queue of ["orders", "orders.eu", "payments"]) await broker.setQueue(queue, {});
  return broker;
}

async function addTo(broker: Broker, queue: string, options = {}): Promise<string> {
  const [outcome] = await broker.add(queue, [{ payload, ...options }]);
  return outcome!.ok!.id;
}

async function refuses(calls: Record<string, () => Promise<unknown>>): Promise<void> {
  for (const [name, call] of Object.entries(calls)) {
    await assert.rejects(call(), { code: "FORBIDDEN" }, name);
  }
}

test("a caller that may only produce cannot consume, read payloads or run the queue", async (t) => {
  const broker = await place(t);
  const guarded = guard(broker, principal("produce orders"));
  const id = await addTo(guarded, "orders");
  assert.equal((await guarded.why(id)).state, "waiting");
  assert.equal((await guarded.history(id)).length, 1);
  assert.equal((await guarded.queue("orders")).name, "orders");
  assert.equal((await guarded.setQueue("orders", {})).name, "orders", "opening it changes nothing");
  assert.deepEqual((await guarded.cancel([id]))[0], { ok: true });
  await refuses({
    lease: () => guarded.lease("orders", { max: 1 }),
    consume: () => guarded.consume("orders", { worker: "w", credits: 1 }, () => {}),
    job: () => guarded.job(id),
    jobs: () => guarded.jobs("orders"),
    setQueue: () => guarded.setQueue("orders", { paused: true }),
    makeQueue: () => guarded.setQueue("orders2", {}),
    deleteQueue: () => guarded.deleteQueue("orders"),
    purge: () => guarded.purge("orders"),
    redrive: () => guarded.redrive("orders"),
    setLaneWeight: () => guarded.setLaneWeight("orders", "a", 2),
  });
});

test("opening a queue without rights there needs admin, whether it exists or not", async (t) => {
  const broker = await place(t);
  const guarded = guard(broker, principal("produce orders"));
  for (const queue of ["payments", "new"]) {
    await assert.rejects(guarded.setQueue(queue, {}), {
      code: "FORBIDDEN",
      details: { needs: "admin", on: queue },
    });
  }
});

// hidden.test.ts holds that each call is refused that names a queue or a job without rights.
test("cancelling what a job waits for needs produce on all queues", async (t) => {
  const broker = await place(t);
  const payment = await addTo(broker, "payments");
  const order = await addTo(broker, "orders", { after: [{ id: payment }] });
  const all = { dependencies: true };
  const one = guard(broker, principal("produce orders"));
  await refuses({ cancel: () => one.cancel([order], all) });
  const every = guard(broker, principal("produce *"));
  assert.deepEqual(await every.cancel([order], all), [{ ok: true }]);
  assert.equal((await broker.job(payment)).state, "cancelled");
});

test("a schedule's jobs follow no job that its key may not see", async (t) => {
  const broker = await place(t);
  const guarded = guard(broker, principal("admin orders"));
  const [ours, theirs] = [await addTo(broker, "orders"), await addTo(broker, "payments")];
  const set = (id: string) =>
    guarded.setSchedule("orders", "s", { every: "1h", options: { after: [id] } });
  await set(ours);
  await assert.rejects(set(theirs), { code: "JOB_NOT_FOUND" });
});

test("items without rights are refused in their places, and reach no job", async (t) => {
  const broker = await place(t);
  const guarded = guard(broker, principal("admin orders.*"));
  const ours = await addTo(broker, "orders.eu");
  const theirs = await addTo(broker, "payments");
  const [held] = await broker.lease("payments", { max: 1 });
  const outcomes = [
    ...(await guarded.ack([{ lease: held!.lease }, { lease: "bad" }])),
    ...(await guarded.cancel([theirs, ours])),
  ].map(({ ok, error }) => error?.code ?? ok);
  assert.deepEqual(outcomes, ["JOB_NOT_FOUND", "INVALID", "JOB_NOT_FOUND", true]);
  assert.deepEqual(await guarded.queuesOf([ours, theirs]), ["orders.eu", undefined]);
  assert.equal((await broker.job(theirs)).state, "running", "nothing has reached it");
});

test("a group is seen with any right on its queue, and released with produce", async (t) => {
  const broker = await place(t);
  await addTo(broker, "orders.eu", { group: "a" });
  await addTo(broker, "payments", { group: "b" });
  const guarded = guard(broker, principal("consume orders.*"));
  assert.equal((await guarded.group("orders.eu/a")).members.length, 1);
  await refuses({ releaseOwn: () => guarded.releaseGroups(["orders.eu/a"]) });
  await assert.rejects(guarded.group("orders.eu/c"), { code: "GROUP_NOT_FOUND" });
  await assert.rejects(guarded.group("a"), { code: "INVALID" });
  const all = guard(broker, principal("produce *"));
  assert.equal((await all.group("payments/b")).members.length, 1);
  await guard(broker, principal("produce payments")).releaseGroups(["payments/b"]);
});

test("a job joins another queue's group only with produce there", async (t) => {
  const broker = await place(t);
  const own = await addTo(broker, "payments", { group: "b" });
  const stranger = guard(broker, principal("produce orders"));
  const jobs = [{ payload, group: "payments/b" }, { payload, group: "b" }, { payload }];
  const codes = (await stranger.add("orders", jobs)).map(({ error }) => error?.code);
  assert.deepEqual(codes, ["FORBIDDEN", undefined, undefined]);
  assert.deepEqual((await broker.group("payments/b")).members, [{ id: own }]);
  const both = guard(broker, principal("produce orders", "produce payments"));
  const [joined] = await both.add("orders", [{ payload, group: "payments/b" }]);
  const members = (await broker.group("payments/b")).members.map(({ id }) => id);
  assert.deepEqual(members, [own, joined!.ok!.id]);
});

test("reports the end of a group only to callers that see its queue", async (t) => {
  const broker = await place(t);
  const told: string[] = [];
  const events = guard(broker, principal("produce orders")).events({ events: ["group-ended"] });
  void (async () => {
    for await (const event of events) if (event.event === "group-ended") told.push(event.group);
  })();
  for (const queue of ["payments", "orders"]) {
    await broker.cancel([await addTo(broker, queue, { group: "g" })]);
  }
  while (told.length === 0) await new Promise(setImmediate);
  assert.deepEqual(told, ["orders/g"]);
});

test("every key reads gates, and those who run everything set them", async (t) => {
  const broker = await place(t);
  const some = guard(broker, principal("admin orders.*", "consume *"));
  assert.equal((await some.gate("g")).key, "g");
  assert.deepEqual(await some.gates(), { items: [], total: 0 });
  await refuses({
    setGate: () => some.setGate("g", { rate: 1 }),
    deleteGate: () => some.deleteGate("g"),
    cooldown: () => some.cooldown("g", 1000),
    clearCooldown: () => some.clearCooldown("g"),
    report: () => some.reportGate("g", true),
  });
  const all = guard(broker, principal("admin *"));
  await all.setGate("g", { rate: 1 });
  await all.cooldown("g", 1000);
  const smtp = guard(broker, principal("admin * smtp*"));
  await smtp.setGate("smtp:*", { rate: 1 });
  await refuses({ wider: () => smtp.setGate("s*", { rate: 1 }) });
});

test("a grant with gates allows to cool them, to end that and to report to them", async (t) => {
  const broker = await place(t);
  const some = guard(broker, principal("consume orders smtp:*"));
  await some.cooldown("smtp:a", 1000);
  await some.clearCooldown("smtp:a");
  await some.reportGate("smtp:a", true);
  await refuses({
    cooldown: () => some.cooldown("bank", 1000),
    clearCooldown: () => some.clearCooldown("bank"),
    report: () => some.reportGate("bank", true),
    setGate: () => some.setGate("smtp:a", { rate: 1 }),
  });
});

test("a grant with gates limits which gates its jobs may name", async (t) => {
  const broker = await place(t);
  const codes = async (...texts: string[]) => {
    const jobs = [["smtp:a"], ["smtp:a", "bank"], []].map((gates) => ({ payload, gates }));
    const outcomes = await guard(broker, principal(...texts)).add("orders", jobs);
    return outcomes.map(({ error }) => error?.code ?? "ok");
  };
  assert.deepEqual(await codes("produce orders"), ["ok", "ok", "ok"]);
  assert.deepEqual(await codes("produce orders smtp:*"), ["ok", "FORBIDDEN", "ok"]);
  assert.deepEqual(await codes("produce orders smtp:*", "produce *"), ["ok", "ok", "ok"]);
  assert.deepEqual(await codes("produce orders x", "consume * bank"), [
    "FORBIDDEN",
    "FORBIDDEN",
    "ok",
  ]);
});

test("a policy gives its queue no rights on gates that its setter does not have", async (t) => {
  const broker = await place(t);
  const owner = guard(broker, principal("admin orders.* own:*"));
  const set = (policy: object) => owner.setQueue("orders.eu", { policy });
  await refuses({
    foreign: () => set({ gates: ["own:a", "shared"] }),
    wide: () => set({ gates: ["{headers.gate}"] }),
    cools: () => set({ gates: ["own:a"], cools: ["shared"] }),
    lua: () => set({ lua: "function on_enqueue() return { gates = { 'shared' } } end" }),
  });
  const { config } = await set({ gates: ["own:{headers.x}"] });
  assert.deepEqual(config.policy, { gates: ["own:{headers.x}"], cools: ["own:*"] });
  const unlimited = guard(broker, principal("admin orders.*"));
  const mine = await unlimited.setQueue("orders.eu", { policy: { gates: ["shared"] } });
  assert.deepEqual(mine.config.policy, { gates: ["shared"], cools: [] });
  await addTo(broker, "orders.eu");
  const [{ lease }] = (await unlimited.lease("orders.eu", { max: 1 })) as [LeasedJob];
  const [nacked] = await unlimited.nack([{ lease, cooldown: { gate: "shared", ms: 1000 } }]);
  assert.equal(nacked?.error?.code, "FORBIDDEN");
});

test("of a gate's line one sees the queues that one may see", async (t) => {
  const broker = await place(t);
  await broker.cooldown("smtp", 60_000);
  for (const queue of ["orders", "payments"]) await addTo(broker, queue, { gates: ["smtp"] });
  for (const queue of ["orders", "payments"]) await broker.lease(queue, { max: 1 });
  const queuesOf = async (...texts: string[]) => {
    const { line, waitingLanes } = await guard(broker, principal(...texts)).gate("smtp");
    assert.equal(waitingLanes, 2);
    return line.map(({ queue }) => queue).sort();
  };
  assert.deepEqual(await queuesOf("consume orders"), ["orders"]);
  assert.deepEqual(await queuesOf("consume *"), ["orders", "payments"]);
});

test("a failure cools the gates of its key and of its queue's policy, and no others", async (t) => {
  const broker = await place(t);
  const cools = async (who: string, gate: string, job: object) => {
    await addTo(broker, "orders", job);
    const guarded = guard(broker, principal(who));
    const [{ lease }] = (await guarded.lease("orders", { max: 1 })) as [LeasedJob];
    const blamed = await guarded.nack([{ lease, blame: [gate], delayMs: 1e9 }]);
    const blame = blamed[0]?.error?.code ?? "ok";
    if (blame === "ok") return blame;
    const [nacked] = await guarded.nack([{ lease, cooldown: { gate, ms: 1 }, delayMs: 1e9 }]);
    assert.equal(nacked?.error?.code, blame, "a cooldown is judged as a blame is");
    await broker.ack([{ lease }]);
    return blame;
  };
  const named = { gates: ["smtp"] };
  assert.equal(await cools("consume orders", "smtp", named), "FORBIDDEN", "a producer's gate");
  assert.equal(await cools("consume *", "smtp", named), "FORBIDDEN");
  assert.equal(await cools("consume orders smtp", "smtp", named), "ok");
  assert.equal(await cools("admin *", "bank", named), "ok");
  await broker.setQueue("orders", { policy: { gates: ["smtp"] } });
  assert.equal(await cools("consume orders", "smtp", {}), "ok", "the policy's gate");
  assert.equal(await cools("consume orders", "bank", {}), "FORBIDDEN");
  assert.equal(await cools("consume orders", "smtp", named), "FORBIDDEN", "said by the producer");
});

test("a failure by a key without rights does not feed the ladders of gates", async (t) => {
  const broker = await place(t);
  await broker.setGate("smtp", { ladder: [60_000] });
  await addTo(broker, "orders", { gates: ["smtp"] });
  const guarded = guard(broker, principal("consume orders"));
  const [{ lease }] = (await guarded.lease("orders", { max: 1 })) as [LeasedJob];
  assert.deepEqual(await guarded.nack([{ lease, error: "x" }]), [{ ok: true }]);
  assert.equal((await broker.gate("smtp")).cooldown, undefined);
});

test("a store is governed like a queue of its name, and some are out of reach", async (t) => {
  const broker = await place(t);
  const guarded = guard(broker, principal("produce state", "consume seen"));
  await guarded.storeWrite("state", [{ key: "a", value: 1 }]);
  assert.deepEqual(await guarded.storeGet("state", ["a"]), [1]);
  assert.deepEqual((await guarded.storeScan("seen")).items, []);
  assert.deepEqual(await guarded.storeGet("config", ["a"]), [undefined]);
  const everything = guard(broker, principal("admin *"));
  await everything.storeWrite("config", [{ key: "a", value: 1 }]);
  await refuses({
    write: () => guarded.storeWrite("seen", []),
    other: () => guarded.storeGet("other", ["a"]),
    config: () => guarded.storeWrite("config", []),
    reservedGet: () => everything.storeGet(KEYS_STORE, ["a"]),
    reservedScan: () => everything.storeScan(KEYS_STORE),
    reservedWrite: () => everything.storeWrite(KEYS_STORE, []),
  });
});

test("a revoked key is refused at its next call, and gets no more jobs", async (t) => {
  const broker = await place(t);
  const who = principal("consume orders");
  const guarded = guard(broker, who);
  const got: LeasedJob[] = [];
  const consumer = await guarded.consume("orders", { worker: "w", credits: 1 }, (jobs) => {
    got.push(...jobs);
  });
  await addTo(broker, "orders");
  while (got.length === 0) await new Promise(setImmediate);
  who.isRevoked = true;
  await assert.rejects(guarded.ack([{ lease: got[0]!.lease }]), { code: "UNAUTHORIZED" });
  consumer.addCredits(1);
  await consumer.over;
  await addTo(broker, "orders");
  assert.equal((await broker.queue("orders")).stats.waiting, 1);
});

test("jobs that are on their way when a key is revoked go back", async (t) => {
  const broker = await place(t);
  const who = principal("consume orders");
  let delivered = 0;
  const consumer = await guard(broker, who).consume("orders", { worker: "w", credits: 9 }, () => {
    delivered++;
  });
  who.isRevoked = true;
  const id = await addTo(broker, "orders");
  await consumer.over;
  while ((await broker.job(id)).state !== "waiting") await new Promise(setImmediate);
  assert.equal(delivered, 0);
  assert.equal((await broker.job(id)).attempt, 0);
});

test("events are those that one may see, and end with the right to see them", async (t) => {
  const broker = await place(t);
  const who = principal("produce orders");
  const events = guard(broker, who).events();
  const seen: BrokerEvent[] = [];
  const reading = (async () => {
    for await (const event of events) seen.push(event);
  })();
  await addTo(broker, "payments", { group: "g" });
  const id = await addTo(broker, "orders");
  while (seen.length === 0) await new Promise(setImmediate);
  assert.deepEqual(
    seen.map((event) => ("id" in event ? event.id : event.event)),
    [id],
  );
  who.isRevoked = true;
  const ended = assert.rejects(reading, { code: "UNAUTHORIZED" });
  await addTo(broker, "orders");
  await ended;
});

test("an operation's name is its caller's own", async (t) => {
  const broker = await place(t);
  const operationId = "once";
  const add = (who: string) =>
    guard(broker, principal(who)).add("orders", [{ payload }], { operationId });
  const [first] = await add("produce orders");
  assert.deepEqual((await add("produce orders"))[0], first, "the first answer again");
  assert.notDeepEqual((await add("produce *"))[0], first);
  for (const [i, who] of ["produce state", "produce *"].entries()) {
    const entries = [{ key: `${i}`, value: i }];
    const options = { operationId: "another" };
    await guard(broker, principal(who)).storeWrite("state", entries, options);
  }
  assert.deepEqual(await broker.storeGet("state", ["0", "1"]), [0, 1], "a write is not swallowed");
});

test("a numbered source with a uuid is the same source for every key", async (t) => {
  const broker = await place(t);
  const source = "0b6f3a52-5a3f-4a6e-9d3e-8f2b8a3f1c11.3";
  const add = (from: Broker) =>
    from.add("orders", [{ payload }], { operationId: `numbered:${source}:7` });
  const [first] = await add(guard(broker, principal("produce orders")));
  assert.deepEqual((await add(guard(broker, principal("produce *"))))[0], first, "a new key");
  assert.deepEqual((await add(broker))[0], first, "a relay within the server");
});

test("a call whose key has lost the right to a part of it says so under its id", async (t) => {
  const broker = await place(t);
  const jobs = [{ payload }, { payload, gates: ["smtp"] }];
  const source = "0b6f3a52-5a3f-4a6e-9d3e-8f2b8a3f1c11.3";
  const add = (who: string) =>
    guard(broker, principal(who)).add("orders", jobs, { operationId: `numbered:${source}:7` });
  await add("produce orders");
  const again = (await add("produce orders bank").catch((error) => error)) as SluiceError;
  assert.equal(again.code, "CONFLICT");
  assert.match(String(again.details.forbidden), /smtp/);
});

test("closing a guarded broker closes nothing; stats are of what one may see", async (t) => {
  const broker = await place(t);
  const guarded = guard(broker, principal("consume orders"));
  const { queues } = await guarded.stats({ queues: ["orders", "payments"] });
  assert.deepEqual(
    queues.map(({ name }) => name),
    ["orders"],
  );
  await guarded.close();
  assert.equal((await broker.queues()).items.length, 3);
});

test("a key finds the jobs and failures of the queues from which it may take jobs", async (t) => {
  const broker = await place(t);
  for (const queue of ["orders", "orders.eu", "payments"]) {
    await broker.setQueue(queue, { retry: { attempts: 1 }, dlq: false });
    await addTo(broker, queue);
    const [job] = await broker.lease(queue, { max: 1 });
    await broker.nack([{ lease: job!.lease, error: `broken ${queue}` }]);
  }
  const queuesOf = async (guarded: Broker, queues?: string[]): Promise<string[]> => {
    const { items } = await guarded.findJobs(queues === undefined ? {} : { queues });
    return items.map(({ queue }) => queue).toSorted();
  };
  const one = guard(broker, principal("consume orders*", "produce payments"));
  assert.deepEqual(await queuesOf(one), ["orders", "orders.eu"]);
  assert.deepEqual(await queuesOf(one, ["orders.eu"]), ["orders.eu"]);
  assert.equal((await one.countJobs()).count, 2);
  assert.equal((await one.failures()).total, 2);
  const all = guard(broker, principal("admin *"));
  assert.equal((await queuesOf(all)).length, 3);
  assert.deepEqual(await queuesOf(guard(broker, principal("produce *"))), []);
  await refuses({
    "another queue": () => one.findJobs({ queues: ["payments"] }),
    "a wider pattern": () => one.countJobs({ queues: ["order*"] }),
    everything: () => one.failures({ queues: ["*"] }),
  });
});

test("a viewer reads jobs and queues, and changes nothing", async (t) => {
  const broker = await place(t);
  const id = await addTo(broker, "orders");
  const viewer = guard(broker, { ...principal(), grants: () => roleGrants("viewer") });
  assert.equal((await viewer.job(id)).id, id);
  assert.equal((await viewer.jobs("orders")).items.length, 1);
  assert.equal((await viewer.findJobs()).items.length, 1);
  assert.equal((await viewer.why(id)).state, "waiting");
  assert.equal((await viewer.queues()).items.length, 3);
  const refused = { code: "FORBIDDEN" };
  await assert.rejects(viewer.add("orders", [{ payload }]), refused);
  await assert.rejects(viewer.lease("orders", { max: 1 }), refused);
  await assert.rejects(viewer.purge("orders"), refused);
  await assert.rejects(viewer.setQueue("orders", { paused: true }), refused);
  await assert.rejects(viewer.startBulk("cancel", { queues: ["orders"] }), refused);
  await assert.rejects(viewer.startBulk("cancel", {}), refused);
  assert.equal((await viewer.cancel([id]))[0]?.error?.code, "FORBIDDEN");
  assert.equal((await broker.job(id)).state, "waiting");
});

test("an operator acts on jobs and pauses, and sets no limits", async (t) => {
  const broker = await place(t);
  const operator = guard(broker, { ...principal(), grants: () => roleGrants("operator", "or*") });
  const id = await addTo(operator, "orders");
  assert.equal((await operator.setQueue("orders", { paused: true })).config.paused, true);
  assert.equal((await operator.cancel([id]))[0]?.ok, true);
  await operator.purge("orders");
  assert.equal((await operator.startBulk("cancel", { queues: ["orders"] })).action, "cancel");
  const refused = { code: "FORBIDDEN" };
  await assert.rejects(operator.setQueue("orders", { paused: true, lease: 5000 }), refused);
  await assert.rejects(operator.setQueue("payments", { paused: true }), refused);
  await assert.rejects(operator.lease("orders", { max: 1 }), refused);
  await assert.rejects(operator.deleteQueue("orders"), refused);
  await assert.rejects(operator.setGate("smtp", { rate: 1 }), refused);
  await assert.rejects(operator.setQueue("orders.x", { paused: true }), {
    code: "QUEUE_NOT_FOUND",
  });
});
