import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryLog } from "@sluice/log";
import { openBroker } from "./broker.ts";
import { GROUP_HELD_MS } from "./limits.ts";
import { job, open, take } from "./testing/opened.ts";

test("a group whose holder is gone is released after a minute without another call", async () => {
  const { broker, clock } = await open();
  const hold = async (): Promise<void> => {
    await broker.add("q", [job("a", { group: "g" })], { holdGroups: true });
    const [taken] = await take(broker);
    await broker.ack([{ lease: taken!.lease }]);
  };
  await hold();
  await clock.advance(GROUP_HELD_MS - 1);
  await hold();
  await clock.advance(GROUP_HELD_MS - 1);
  assert.equal((await broker.group("q/g")).ended, false, "it was held again");
  await clock.advance(1);
  assert.equal((await broker.group("q/g")).ended, true);
});

test("after a crash, the minute of a held group counts from the restart", async () => {
  const log = new MemoryLog();
  const { broker: first, clock } = await open({}, { log });
  await first.add("q", [job("a", { group: "g" })], { holdGroups: true });
  await log.close();
  const broker = await openBroker({ log: new MemoryLog({ after: log }), clock });
  const ended = broker.groupEnded("q/g");
  const [taken] = await take(broker);
  await broker.ack([{ lease: taken!.lease }]);
  await clock.advance(GROUP_HELD_MS);
  assert.equal((await ended).ended, true);
  await broker.close();
});
