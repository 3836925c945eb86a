import assert from "node:assert/strict";
import { test } from "node:test";
import type { Broker, SluiceError } from "@sluice/protocol";
import { memoryBroker } from "../testing/start.ts";
import { EVERYTHING, type Grant } from "./grant.ts";
import { guard } from "./guard.ts";
import type { Principal } from "./principal.ts";

const payload = new TextEncoder().encode("{}");

function holder(grants: readonly Grant[]): Principal {
  return { id: JSON.stringify(grants), grants: () => grants, charge: () => {} };
}

/** The refusal, with what the caller itself said taken out. */
async function refusalOf(call: () => Promise<unknown>, said: readonly string[]): Promise<unknown> {
  const answer = await call().then(
    (value) => (Array.isArray(value) ? value[0]?.error : value),
    (error: SluiceError) => error.toJSON(),
  );
  return said.reduce((text, part) => text.replaceAll(part, "X"), JSON.stringify(answer));
}

/** Every call that names a job by its id or by a lease. */
function jobCalls(
  broker: Broker,
  id: string,
  lease: string,
): Record<string, () => Promise<unknown>> {
  return {
    job: () => broker.job(id),
    why: () => broker.why(id),
    history: () => broker.history(id),
    ended: () => broker.ended(id),
    cancel: () => broker.cancel([id]),
    retry: () => broker.retry([id]),
    ack: () => broker.ack([{ lease }]),
    nack: () => broker.nack([{ lease, error: "x" }]),
    giveBack: () => broker.giveBack([lease]),
    extend: () => broker.extend([{ lease, leaseMs: 1000 }]),
    progress: () => broker.progress([{ lease, progress: 1 }]),
  };
}

/** What may follow a job's id where its lease is asked for: tokens that no broker made. */
const FORGED = ["", ".", "..", ".1", ".0", ".A", ".1.", ".1.x.y", ".1.AAAAAAAAAA", ".0.AAAAAAAAAA"];

test("a job of a queue without rights looks as one that does not exist", async (t) => {
  const broker = await memoryBroker(t);
  await broker.setQueue("secret", { results: { jobs: 0, ttl: 0 } });
  await broker.setQueue("own", {});
  const [live, gone] = await broker.add("secret", [{ payload }, { payload }]);
  await broker.cancel([gone!.ok!.id]);
  const [held] = await broker.lease("secret", { max: 1 });
  const guarded = guard(broker, holder([{ action: "admin", on: "own" }]));
  const absent = "czzz";
  const noLease = held!.lease.replace(live!.ok!.id, absent);
  const wanted = jobCalls(guarded, absent, noLease);
  for (const [id, lease] of [
    [live!.ok!.id, held!.lease],
    [gone!.ok!.id, held!.lease],
  ] as const) {
    for (const rest of FORGED) {
      const of = (job: string) => refusalOf(() => guarded.ack([{ lease: job + rest }]), [job]);
      assert.equal(await of(id), await of(absent), `a lease that ends in "${rest}"`);
    }
    for (const [name, call] of Object.entries(jobCalls(guarded, id, lease))) {
      const refusal = await refusalOf(call, [lease, id]);
      assert.equal(refusal, await refusalOf(wanted[name]!, [noLease, absent]), name);
      assert.match(String(refusal), /JOB_NOT_FOUND/, name);
    }
  }
});

test("a job of a queue with some rights is refused with what is missing", async (t) => {
  const broker = await memoryBroker(t, "own");
  const [added] = await broker.add("own", [{ payload }]);
  const guarded = guard(broker, holder([{ action: "produce", on: "own" }]));
  await assert.rejects(guarded.job(added!.ok!.id), { code: "FORBIDDEN" });
  const [held] = await broker.lease("own", { max: 1 });
  const [acked] = await guarded.ack([{ lease: held!.lease }]);
  assert.equal(acked!.error?.code, "FORBIDDEN");
});

test("why names no jobs and workers of queues without rights", async (t) => {
  const broker = await memoryBroker(t, "secret", "own");
  await broker.setGate("shared", { concurrency: 1 });
  await broker.add("secret", [{ payload, gates: ["shared"] }]);
  await broker.lease("secret", { max: 1, worker: "their-worker" });
  const [mine] = await broker.add("own", [{ payload, gates: ["shared"] }]);
  const { id } = mine!.ok!;
  const why = async (grants: readonly Grant[]): Promise<object> => {
    const { asOf: _, ...rest } = await guard(broker, holder(grants)).why(id);
    return rest;
  };
  const all = await why(EVERYTHING);
  assert.match(JSON.stringify(all), /"holders":.*their-worker.*job a1 on worker/);
  const some = await why([{ action: "admin", on: "own" }]);
  assert.deepEqual("holders" in some && some.holders, { count: 1 });
  assert.doesNotMatch(JSON.stringify(some), /their-worker|a1/);
  const both = await why([
    { action: "consume", on: "own" },
    { action: "produce", on: "secret" },
  ]);
  assert.deepEqual(both, all);
});

/** Every call that names a queue, or a store, which is governed like one. */
function namedCalls(broker: Broker, name: string): Record<string, () => Promise<unknown>> {
  return {
    add: () => broker.add(name, [{ payload }]),
    lease: () => broker.lease(name, { max: 1 }),
    consume: () => broker.consume(name, { worker: "w", credits: 1 }, () => {}),
    cancelByKey: () => broker.cancelByKey(name, ["k"]),
    jobs: () => broker.jobs(name),
    setQueue: () => broker.setQueue(name, { paused: true }),
    openQueue: () => broker.setQueue(name, {}),
    dlq: () => broker.setQueue("own", { dlq: name }),
    deleteQueue: () => broker.deleteQueue(name),
    queue: () => broker.queue(name),
    purge: () => broker.purge(name),
    redrive: () => broker.redrive(name),
    lanes: () => broker.lanes(name),
    setLaneWeight: () => broker.setLaneWeight(name, "a", 2),
    workers: () => broker.workers(name),
    gates: () => broker.gates({ queue: name }),
    group: () => broker.group(`${name}/g`),
    groupEnded: () => broker.groupEnded(`${name}/g`),
    releaseGroups: () => broker.releaseGroups([`${name}/g`]),
    storeGet: () => broker.storeGet(name, ["k"]),
    storeScan: () => broker.storeScan(name),
    storeWrite: () => broker.storeWrite(name, [{ key: "k", value: 1 }]),
  };
}

test("a name without rights is FORBIDDEN, whether it exists or not", async (t) => {
  const broker = await memoryBroker(t);
  await guard(broker, holder(EVERYTHING)).setQueue("secret", {});
  await broker.setQueue("own", {});
  await broker.add("secret", [{ payload, group: "g" }]);
  await broker.storeWrite("secret", [{ key: "k", value: 1 }]);
  const guarded = guard(broker, holder([{ action: "admin", on: "own" }]));
  const absent = namedCalls(guarded, "absent");
  for (const [name, call] of Object.entries(namedCalls(guarded, "secret"))) {
    const refusal = await refusalOf(call, ["secret"]);
    assert.equal(refusal, await refusalOf(absent[name]!, ["absent"]), name);
    assert.match(String(refusal), /FORBIDDEN/, name);
  }
});

test("a page of queues is filled with those that the caller may see", async (t) => {
  const broker = await memoryBroker(t);
  for (const name of ["a.1", "b.1", "b.2", "a.2", "c.1", "a.3", "a.0"]) {
    await broker.setQueue(name, {});
  }
  const guarded = guard(broker, holder([{ action: "consume", on: "a.*" }]));
  const names = ({ items }: { items: readonly { name: string }[] }) =>
    items.map(({ name }) => name);
  const first = await guarded.queues({ limit: 3 });
  assert.deepEqual(names(first), ["a.0", "a.1", "a.2"]);
  const second = await guarded.queues({ limit: 3, cursor: first.cursor! });
  assert.deepEqual([names(second), second.cursor], [["a.3"], undefined]);
  const last = guard(broker, holder([{ action: "consume", on: "c.*" }]));
  assert.deepEqual(names(await last.queues({ limit: 1 })), ["c.1"]);
  assert.deepEqual(names(await guarded.queues()), ["a.0", "a.1", "a.2", "a.3"]);
});

test("events of bulk actions are for those who act on all, and for who began one", async (t) => {
  const broker = await memoryBroker(t, "acme.mail", "other.mail");
  const acme = guard(broker, holder([{ action: "operate", on: "acme.*" }]));
  const other = guard(broker, holder([{ action: "operate", on: "other.*" }]));
  const all = guard(broker, holder(EVERYTHING));
  const read = (own: Broker) => own.events({ events: ["bulk"] });
  const readers = [read(acme), read(all)] as const;
  await other.startBulk("retry", {});
  const { id } = await acme.startBulk("retry", {});
  const [forAcme, forAll] = await Promise.all(readers.map((events) => events.next()));
  assert.equal(forAcme?.value?.event === "bulk" && forAcme.value.bulk, id);
  assert.notEqual(forAll?.value?.event === "bulk" && forAll.value.bulk, id);
  for (const events of readers) await events.return?.();
});
