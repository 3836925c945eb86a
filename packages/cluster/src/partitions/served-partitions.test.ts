import assert from "node:assert/strict";
import { test } from "node:test";
import { openBroker } from "@sluice/broker";
import { MemoryLog } from "@sluice/log";
import { turningClock } from "@sluice/protocol/testing";
import { MemoryDirectory } from "../directory.ts";
import { ClusterRouter } from "../router/cluster-router.ts";
import { makeCall } from "./make-call.ts";
import { ServedPartitions } from "./served-partitions.ts";

const payload = new TextEncoder().encode("x");

test("calls wait for a partition that no node serves, until one does", async () => {
  const clock = turningClock(20);
  const partitions = new ServedPartitions({ clock });
  let queues: number | undefined;
  void makeCall(partitions, 0, (port) => port.queues()).then((all) => {
    queues = all.items.length;
  });
  await clock.advance(5_000);
  assert.equal(queues, undefined);
  const broker = await openBroker({ log: new MemoryLog(), clock });
  partitions.serve(0, broker);
  await clock.advance(0);
  assert.equal(queues, 0);
  await partitions.close();
  partitions.withdraw(0);
  await broker.close();
});

test("a partition that moves keeps its leases, and its consumers go on", async () => {
  const clock = turningClock(20);
  const partitions = new ServedPartitions({ clock });
  const router = new ClusterRouter({ directory: new MemoryDirectory(1), partitions, clock });
  const log = new MemoryLog();
  const first = await openBroker({ log, clock });
  partitions.serve(0, first);
  await router.setQueue("q", {});
  const leases: string[] = [];
  const deliver = (jobs: { lease: string }[]): void => {
    leases.push(...jobs.map(({ lease }) => lease));
  };
  await router.consume("q", { worker: "w", credits: 2 }, deliver);
  await router.add("q", [{ payload }]);
  await clock.advance(0);
  partitions.withdraw(0);
  await first.close();
  const add = router.add("q", [{ payload }]);
  const acked = router.ack([{ lease: leases[0]! }]);
  const second = await openBroker({ log: new MemoryLog({ after: log }), clock });
  partitions.serve(0, second);
  await clock.advance(300);
  assert.equal((await add)[0]?.error, undefined);
  assert.deepEqual(await acked, [{ ok: true }]);
  assert.equal(leases.length, 2, "the consumer has the job that came afterwards");
  await router.close();
  partitions.withdraw(0);
  await second.close();
});

test("unanswered calls to a partition that leaves are made at the next owner", async () => {
  const clock = turningClock(20);
  const partitions = new ServedPartitions({ clock });
  const broker = await openBroker({ log: new MemoryLog(), clock });
  partitions.serve(0, broker);
  const queues = makeCall(partitions, 0, (port) => port.queues());
  const ended = makeCall(partitions, 0, (port) => port.groupEnded("q/g"));
  const refusal = assert.rejects(ended, { code: "GROUP_NOT_FOUND" });
  partitions.serve(0, broker);
  assert.deepEqual(await queues, { items: [] });
  await refusal;
  partitions.withdraw(0);
  await broker.close();
});

test("events end with an error when their partition moves", async () => {
  const clock = turningClock(20);
  const partitions = new ServedPartitions({ clock });
  const router = new ClusterRouter({ directory: new MemoryDirectory(1), partitions, clock });
  const unheard = router.events();
  const broker = await openBroker({ log: new MemoryLog(), clock });
  partitions.serve(0, broker);
  await clock.advance(0);
  await router.setQueue("q", {});
  assert.equal((await unheard.next()).value?.event, "queue", "it was never connected elsewhere");
  const next = assert.rejects(unheard.next(), { code: "DISCONNECTED" });
  partitions.withdraw(0);
  await next;
  await router.close();
  await broker.close();
});
