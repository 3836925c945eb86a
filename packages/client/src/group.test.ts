import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { openBroker } from "@sluice/broker";
import { MemoryLog } from "@sluice/log";
import { SluiceError } from "@sluice/protocol";
import { FakeClock, type QueueOptions, SluiceHandles } from "./index.ts";
import { BATCH_MAX } from "./limits.ts";

async function open(t: TestContext, options: QueueOptions<number> = {}) {
  const clock = new FakeClock();
  const broker = await openBroker({ log: new MemoryLog(), clock });
  const sluice = new SluiceHandles({ port: broker, clock });
  t.after(() => sluice.close());
  return { sluice, broker, mail: await sluice.queue<number>("mail", options) };
}

test("waiting for a group ends when its last member has ended", async (t) => {
  const { sluice, mail } = await open(t);
  await mail.addBulk([1, 2].map((payload) => ({ payload, group: "g" })));
  const waiting = sluice.group("mail/g").finished();
  mail.work(() => {});
  const { ended, members } = await waiting;
  assert.deepEqual([ended, members.map(({ state }) => state)], [true, ["finished", "finished"]]);
  assert.deepEqual(await sluice.group("mail/g").finished(), await waiting, "also afterwards");
});

test("waiting for a group can be given up, and is refused when there is none", async (t) => {
  const { sluice, mail } = await open(t);
  await mail.add(1, { group: "g" });
  const giveUp = new AbortController();
  const waiting = sluice.group("mail/g").finished({ signal: giveUp.signal });
  giveUp.abort();
  await assert.rejects(waiting, { code: "ABORTED" });
  await assert.rejects(sluice.group("mail/none").finished(), { code: "GROUP_NOT_FOUND" });
  const unknown = { wait: 5 } as object;
  await assert.rejects(sluice.group("mail/g").finished(unknown), { code: "INVALID" });
});

test("a group that takes several calls to add ends once, with the last member", async (t) => {
  const { sluice, broker, mail } = await open(t);
  const listening = broker.events({ events: ["group-ended"] });
  const ends: number[] = [];
  void (async () => {
    for await (const event of listening) {
      if (event.event === "group-ended") ends.push(event.members.length);
    }
  })();
  mail.work(() => {}, { concurrency: 1000 });
  const count = BATCH_MAX + 5;
  const items = Array.from({ length: count }, (_, payload) => ({ payload, group: "g" }));
  await mail.addBulk(items);
  await sluice.drain();
  assert.deepEqual(ends, [count]);
});

test("a bulk add that fails halfway does not keep its group open forever", async (t) => {
  const { sluice, broker, mail } = await open(t, { policy: { group: () => "g" } });
  const add = broker.add.bind(broker);
  let calls = 0;
  broker.add = (...args) => {
    if (++calls === 2) return Promise.reject(new SluiceError("DISCONNECTED", "gone"));
    return add(...args);
  };
  mail.work(() => {}, { concurrency: 1000 });
  const items = Array.from({ length: BATCH_MAX + 1 }, (_, payload) => ({ payload }));
  await assert.rejects(mail.addBulk(items), { code: "DISCONNECTED" });
  assert.equal((await sluice.group("mail/g").finished()).members.length, BATCH_MAX);
});
