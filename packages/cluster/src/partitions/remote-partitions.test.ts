import assert from "node:assert/strict";
import { test } from "node:test";
import { openBroker } from "@sluice/broker";
import { MemoryLog } from "@sluice/log";
import { turningClock } from "@sluice/protocol/testing";
import type { Socket } from "@sluice/protocol/wire";
import { socketPair } from "../testing/socket-pair.ts";
import { moved } from "./make-call.ts";
import { RemotePartitions } from "./remote-partitions.ts";
import { ServedPartitions } from "./served-partitions.ts";

test("a new owner is dialled soon after a connection to the former one was cut", async (t) => {
  const clock = turningClock(20);
  const broker = await openBroker({ log: new MemoryLog(), clock });
  const served = new ServedPartitions({ clock });
  served.serve(0, broker);
  let owner: "none" | "former" | "new" = "none";
  const unanswered: Socket[] = [];
  const partitions = new RemotePartitions({
    clock,
    random: () => 1,
    dial: async () => {
      if (owner === "none") throw moved(0);
      const [near, far] = socketPair();
      if (owner === "former") unanswered.push(near);
      else served.accept(0, far);
      return near;
    },
  });
  t.after(async () => {
    await partitions.close({ timeout: 0 });
    served.withdraw(0);
    await broker.close();
  });
  const asked = partitions.port(0).queues();
  await clock.advance(5_000);
  owner = "former";
  await clock.advance(250);
  assert.equal(unanswered.length, 1);
  owner = "new";
  unanswered[0]!.close(1000, "the partition has moved");
  let isAnswered = false;
  void asked.then(() => {
    isAnswered = true;
  });
  await clock.advance(300);
  assert.equal(isAnswered, true);
});
