import assert from "node:assert/strict";
import { test } from "node:test";
import { openBroker } from "@sluice/broker";
import { turningClock } from "@sluice/client/testing";
import { MemoryLog } from "@sluice/log";
import { LocalPartitions } from "./local-partitions.ts";

const payload = new TextEncoder().encode("x");

test("calls wait for a partition that nobody serves, until somebody does", async () => {
  const clock = turningClock(20);
  const partitions = new LocalPartitions({ clock });
  let queues: number | undefined;
  const port = partitions.port(0);
  void port.queues().then((all) => {
    queues = all.items.length;
  });
  await clock.advance(5_000);
  assert.equal(queues, undefined);
  const broker = await openBroker({ log: new MemoryLog(), clock });
  partitions.serve(0, broker);
  await clock.advance(250);
  assert.equal(queues, 0);
  await partitions.close();
  partitions.withdraw(0);
  await broker.close();
});

test("a partition that moves keeps its leases, and its consumers go on", async () => {
  const clock = turningClock(20);
  const partitions = new LocalPartitions({ clock });
  const log = new MemoryLog();
  const first = await openBroker({ log, clock });
  partitions.serve(0, first);
  const port = partitions.port(0);
  await port.setQueue("q", {});
  const leases: string[] = [];
  const deliver = (jobs: { lease: string }[]): void => {
    leases.push(...jobs.map(({ lease }) => lease));
  };
  await port.consume("q", { worker: "w", credits: 2 }, deliver);
  await port.add("q", [{ payload }]);
  await clock.advance(0);
  partitions.withdraw(0);
  await first.close();
  const add = port.add("q", [{ payload }]);
  const acked = port.ack([{ lease: leases[0]! }]);
  const second = await openBroker({ log: new MemoryLog({ after: log }), clock });
  partitions.serve(0, second);
  await clock.advance(300);
  assert.equal((await add)[0]?.error, undefined);
  assert.deepEqual(await acked, [{ ok: true }]);
  assert.equal(leases.length, 2, "the consumer has the job that came afterwards");
  await partitions.close();
  partitions.withdraw(0);
  await second.close();
});

test("a connection that nobody has greeted when its partition moves is cut", async () => {
  const clock = turningClock(20);
  const partitions = new LocalPartitions({ clock });
  const broker = await openBroker({ log: new MemoryLog(), clock });
  partitions.serve(0, broker);
  const queues = partitions.port(0).queues();
  let isAnswered = false;
  void queues.then(() => {
    isAnswered = true;
  });
  // The connection is made, and no word has come through.
  await Promise.resolve();
  partitions.serve(0, broker);
  await clock.advance(300);
  assert.equal(isAnswered, true);
  await partitions.close();
  partitions.withdraw(0);
  await broker.close();
});
