import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { openBroker } from "@sluice/broker";
import { MemoryLog } from "@sluice/log";
import { type Broker, SluiceError } from "@sluice/protocol";
import { PartitionPort } from "./partition-port.ts";

const payload = new TextEncoder().encode("x");

async function open(): Promise<{ broker: Broker; port: PartitionPort }> {
  const broker = await openBroker({ log: new MemoryLog() });
  await broker.setQueue("q", { retry: { attempts: 1 } });
  return { broker, port: new PartitionPort(7, broker, ({ code }) => assert.fail(code)) };
}

test("whatever names a job carries the partition, on every way out", async () => {
  const { broker, port } = await open();
  const events = port.events({ events: ["added", "group-ended"] });
  const [added] = await port.add("q", [{ payload, group: "g" }]);
  const { id } = added!.ok!;
  assert.match(id, /^7-/);
  const [job] = await port.lease("q", { max: 1 });
  assert.deepEqual([job!.id, job!.lease.startsWith(`${id}.`)], [id, true]);
  assert.equal((await port.job(id)).id, id);
  assert.equal((await port.jobs("q")).items[0]?.id, id);
  assert.deepEqual(await port.queuesOf([id, "nothing"]), ["q", undefined]);
  await port.ack([{ lease: job!.lease }]);
  assert.equal((await port.ended(id)).id, id);
  assert.deepEqual((await port.group("q/g")).members, [{ id, state: "finished" }]);
  const told = [(await events.next()).value, (await events.next()).value];
  assert.equal(told[0]?.event === "added" && told[0].id, id);
  assert.equal(told[1]?.event === "group-ended" && told[1].members[0]?.id, id);
  await port.add("q", [{ payload }]);
  const { queues } = await port.stats({ queues: ["q"], oldest: true });
  assert.match(queues[0]!.oldest!.id, /^7-/);
  await broker.close();
});

test("names of other partitions and of no partition reach no job", async () => {
  const { broker, port } = await open();
  const [added] = await port.add("q", [{ payload }]);
  const { id } = added!.ok!;
  const local = id.slice(2);
  for (const other of [local, `8-${local}`, `07-${local}`, `-${local}`, "", 5 as never]) {
    const [outcome] = await port.cancel([other]);
    assert.equal(outcome?.error?.code, "JOB_NOT_FOUND", `cancel ${other}`);
    await assert.rejects(port.job(other), { code: "JOB_NOT_FOUND" });
  }
  assert.equal((await port.job(id)).state, "waiting");
  const [job] = await port.lease("q", { max: 1 });
  const lease = job!.lease.slice(2);
  const acks = await port.ack([{ lease }, { lease: `8-${lease}` }, { lease: job!.lease }]);
  const codes = acks.map(({ error }) => error?.code);
  assert.deepEqual(codes, ["INVALID", "JOB_NOT_FOUND", undefined]);
  await broker.close();
});

test("a refusal tells the job by the name that everybody knows", async () => {
  const { broker, port } = await open();
  await assert.rejects(port.job("7-azz"), (error) => {
    const { message, details } = error as { message: string; details: { value: string } };
    return message.includes("7-azz") && details.value === "7-azz";
  });
  await broker.close();
});

test("the last error of a broker that has ended goes to its owner alone", async () => {
  const broker = await openBroker({ log: new MemoryLog() });
  const heard: string[] = [];
  const port = new PartitionPort(7, broker, ({ code }) => {
    heard.push(code);
    void port.leave(new SluiceError("MOVED", "partition 7 is not here"));
  });
  await broker.close();
  await assert.rejects(port.queues(), { code: "MOVED" });
  assert.deepEqual(heard, ["CLOSED"]);
});

test("a port that is left fails its calls, and its leases stay", async () => {
  const { broker, port } = await open();
  const [added] = await port.add("q", [{ payload }]);
  const held: string[] = [];
  const consumer = await port.consume("q", { worker: "w", credits: 9 }, (jobs) => {
    held.push(...jobs.map(({ lease }) => lease));
  });
  await setImmediate();
  const ended = assert.rejects(port.ended(added!.ok!.id), { code: "MOVED" });
  const polled = assert.rejects(port.lease("q", { max: 1, wait: 9_000 }), { code: "MOVED" });
  await port.leave(new SluiceError("MOVED", "partition 7 is not here"));
  await Promise.all([ended, polled, consumer.over]);
  await assert.rejects(port.queues(), { code: "MOVED" });
  await broker.add("q", [{ payload }]);
  const { stats } = await broker.queue("q");
  assert.deepEqual([held.length, stats.running, stats.waiting], [1, 1, 1]);
  assert.deepEqual(await broker.ack([{ lease: held[0]!.slice(2) }]), [{ ok: true }]);
  await broker.close();
});

test("a call that is repeated while nothing may be added has its answer", async () => {
  const broker = await openBroker({ log: new MemoryLog() });
  await broker.setQueue("q", {});
  let refusal: SluiceError | undefined;
  const onGone = ({ code }: SluiceError): void => assert.fail(code);
  const port = new PartitionPort(7, broker, onGone, () => refusal);
  const jobs = [{ payload }];
  const first = await port.add("q", jobs, { operationId: "known" });
  refusal = new SluiceError("STORAGE_LOW", "it is full");
  assert.deepEqual(await port.add("q", jobs, { operationId: "known" }), first);
  await assert.rejects(port.add("q", jobs, { operationId: "new" }), { code: "STORAGE_LOW" });
  await assert.rejects(port.add("q", jobs), { code: "STORAGE_LOW" });
  await assert.rejects(port.addFlow("q", [{ queue: "q", payload }]), { code: "STORAGE_LOW" });
  assert.equal((await broker.queue("q")).stats.added, 1);
  await broker.close();
});
