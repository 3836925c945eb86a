/** What a Sluice offers beside adding and working: gates, groups, stores, operating. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { RetryAfter } from "sluice";
import { openMail, openSluice } from "./testing/open-mail.ts";

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

test("a gate holds jobs back at its rate, and says why", async (t) => {
  const { sluice, clock, mail } = await openMail<number>(t);
  await sluice.gate("smtp").set({ rate: 1, burst: 1 });
  const times: number[] = [];
  const start = clock.now();
  mail.work(() => void times.push(clock.now() - start), { concurrency: 10 });
  const jobs = await Promise.all([1, 2, 3].map((n) => mail.add(n, { gates: ["smtp"] })));
  await sluice.drain();
  const why = await sluice.why(jobs[1]?.id ?? "");
  assert.ok(why.state === "waiting" && why.reason === "gated" && why.gate === "smtp", why.text);
  await clock.advance("5s");
  assert.deepEqual(times, [0, 1_000, 2_000]);
  assert.deepEqual(
    (await sluice.gates()).map(({ key }) => key),
    ["smtp"],
  );
});

test("events carry results as values, and end when their reader leaves", async (t) => {
  const { sluice, mail } = await openMail<number, { sent: number }>(t);
  const results: unknown[] = [];
  const events = sluice.events({ events: ["ended"] });
  mail.work(({ payload }) => ({ sent: payload }));
  await mail.add(5);
  for await (const event of events) {
    assert.ok(event.event === "ended");
    results.push(event.result);
    break;
  }
  assert.deepEqual(results, [{ sent: 5 }]);
  assert.equal((await events.next()).done, true);
});

interface Listened {
  on(name: string, listener: () => void): void;
}

test("a listener for an unknown event is refused, by a worker, a queue and a Sluice", async (t) => {
  const { sluice, mail } = await openMail<number>(t);
  const worker = mail.work(() => {});
  const refused = { code: "INVALID", message: /finished, .*got "completed"/ };
  for (const emitter of [worker, mail, sluice] as unknown as Listened[]) {
    assert.throws(() => emitter.on("completed", () => {}), refused);
  }
  assert.throws(() => mail.on("connected" as "finished", () => {}), { code: "INVALID" });
});

test("a cooldown shuts a gate until it is over or cleared", async (t) => {
  const { sluice, clock, mail } = await openMail<number>(t);
  const smtp = sluice.gate("smtp");
  await smtp.set({ rate: 100 });
  await smtp.cooldown("30s", "429 from the provider");
  const { cooldown } = await smtp.info();
  assert.deepEqual(cooldown, { until: clock.now() + 30_000, reason: "429 from the provider" });
  mail.work(() => {});
  const first = await mail.add(1, { gates: ["smtp"] });
  await clock.advance("29s");
  assert.equal((await first.info()).state, "waiting");
  await clock.advance("1s");
  await first.finished();
  await smtp.cooldown("1h");
  const second = await mail.add(2, { gates: ["smtp"] });
  await smtp.clear();
  await second.finished();
  await assert.rejects(smtp.cooldown("soon" as "1s"), { code: "INVALID" });
});

test("a ladder hears reports, and deleting a gate opens it", async (t) => {
  const { sluice } = await openSluice(t);
  const api = sluice.gate("api");
  await api.set({ ladder: ["1m", "5m"] });
  await api.report(false);
  assert.equal((await api.info()).ladderStep, 1);
  await api.report(true);
  assert.equal((await api.info()).ladderStep, 0);
  await api.set({ rate: 0 });
  const mail = await sluice.queue("mail");
  mail.work(() => {});
  const job = await mail.add(1, { gates: ["api"] });
  await sluice.drain();
  assert.equal((await job.info()).state, "waiting");
  await api.delete();
  await job.finished();
});

test("a job that would wait too long at a gate is refused at once", async (t) => {
  const { sluice, mail } = await openMail(t);
  await sluice.gate("smtp").cooldown("10m");
  await assert.rejects(mail.add(1, { gates: ["smtp"], maxWait: "5m" }), { code: "WAIT_TOO_LONG" });
});

test("a job that is overtaken by a cooldown says that it would wait too long", async (t) => {
  const { mail } = await openMail<number>(t);
  const gates = ["smtp"];
  mail.work(() => {
    throw new RetryAfter("10m", { gate: "smtp" });
  });
  await mail.pause();
  const [, patient] = await Promise.all([
    mail.add(1, { gates }),
    mail.add(2, { gates, maxWait: "5m" }),
  ]);
  const failed = assert.rejects(patient.finished(), {
    code: "WAIT_TOO_LONG",
    details: { id: patient.id, gate: "smtp", wait: 600_000, maxWait: 300_000 },
  });
  await mail.resume();
  await failed;
});

test("a group ends with its last member, and says how each did", async (t) => {
  const { sluice, mail } = await openMail<number>(t, { retry: { attempts: 1 } });
  const jobs = await mail.addBulk([1, 2, 3].map((payload) => ({ payload, group: "g" })));
  const group = mail.group("g");
  assert.equal((await group.info()).ended, false);
  const finished = group.finished();
  mail.work(({ payload }) => {
    if (payload === 2) throw new Error("no");
  });
  const { ended, members } = await finished;
  assert.equal(ended, true);
  assert.deepEqual(
    members.map(({ state }) => state),
    ["finished", "dead", "finished"],
  );
  assert.equal(members.length, jobs.length);
  assert.deepEqual(
    await group.finished(),
    { id: "mail/g", ended, members },
    "one that ended is known",
  );
  await assert.rejects(sluice.group("mail/none").finished(), { code: "GROUP_NOT_FOUND" });
});

test("waiting for a group ends with the Sluice", async (t) => {
  const { sluice, mail } = await openMail<number>(t);
  await mail.add(1, { group: "g" });
  const waiting = assert.rejects(sluice.group("mail/g").finished(), { code: "CLOSED" });
  await sluice.drain();
  await sluice.close();
  await waiting;
});

test("a store keeps values by key", async (t) => {
  const { sluice } = await openSluice(t);
  const store = sluice.store<{ n: number }>("settings");
  assert.equal(await store.get("a"), undefined);
  await store.put("a", { n: 1 });
  assert.deepEqual(await store.get("a"), { n: 1 });
  await store.batch([
    { key: "a", value: undefined },
    { key: "b:1", value: { n: 2 } },
    { key: "b:2", value: { n: 3 } },
    { key: "c", value: { n: 4 } },
  ]);
  assert.equal(await store.get("a"), undefined);
  assert.deepEqual(await all(store.scan({ prefix: "b:" })), [
    { key: "b:1", value: { n: 2 } },
    { key: "b:2", value: { n: 3 } },
  ]);
  await store.delete("c");
  assert.equal((await all(store.scan())).length, 2);
  assert.deepEqual(await all(sluice.store("other").scan()), []);
});

test("a long store is scanned page by page", async (t) => {
  const { sluice } = await openSluice(t);
  const store = sluice.store<number>("many");
  const keys = Array.from({ length: 1_234 }, (_, i) => `key-${String(i).padStart(5, "0")}`);
  await store.batch(keys.map((key, value) => ({ key, value })));
  assert.deepEqual(
    (await all(store.scan())).map(({ key }) => key),
    keys,
  );
});

test("what a store cannot keep is refused by its field", async (t) => {
  const { sluice } = await openSluice(t);
  const store = sluice.store("settings");
  await assert.rejects(store.put("a", undefined), { code: "INVALID", message: /^store\.value/ });
  await assert.rejects(store.put("a", { n: 1n }), { message: /^store\.batch\[0\]\.value\.n/ });
  await assert.rejects(store.batch({} as []), { code: "INVALID" });
});

test("events tell what happens in the broker, in order", async (t) => {
  const { sluice, mail } = await openMail<number>(t);
  const events = sluice.events({ queue: "mail", events: ["added", "ended"] });
  const seen: string[] = [];
  const reading = (async () => {
    for await (const { event } of events) {
      seen.push(event);
      if (seen.length === 2) break;
    }
  })();
  mail.work(() => {});
  await mail.add(1);
  await reading;
  assert.deepEqual(seen, ["added", "ended"]);
});

test("the jobs of a queue are listed with their payloads, page by page", async (t) => {
  const { mail } = await openMail<number>(t);
  const items = Array.from({ length: 1_111 }, (_, payload) => ({ payload }));
  await mail.addBulk(items);
  await mail.add(-1, { delay: "1h", fairnessKey: "other" });
  const waiting = await all(mail.jobs({ state: "waiting" }));
  assert.deepEqual(
    waiting.map(({ payload }) => payload).sort((a, b) => a - b),
    items.map(({ payload }) => payload),
  );
  assert.deepEqual(
    (await all(mail.jobs({ lane: "other" }))).map(({ payload }) => payload),
    [-1],
  );
  assert.throws(() => mail.jobs({ sate: "waiting" } as never), { code: "INVALID" });
});

test("lanes are listed with their weights, which can be changed", async (t) => {
  const { mail } = await openMail<number>(t);
  await mail.add(1, { fairnessKey: "acme", weight: 2 });
  await mail.add(2, { fairnessKey: "other" });
  await mail.setWeight("other", 5);
  const lanes = await all(mail.lanes());
  const weights = lanes.map(({ key, weight }) => `${key} ${weight}`).sort();
  assert.deepEqual(weights, ["acme 2", "other 5"]);
  assert.equal((await all(mail.lanes({ search: "acm" }))).length, 1);
});

test("a paused queue hands nothing out until it is resumed", async (t) => {
  const { sluice, mail } = await openMail<number>(t, { paused: true });
  mail.work(() => {});
  const job = await mail.add(1);
  await sluice.drain();
  const why = await job.why();
  assert.ok(why.state === "waiting" && why.reason === "paused");
  await mail.resume();
  await job.finished();
  await mail.pause();
  assert.equal((await mail.info()).config.paused, true);
});

test("a purge removes what waits, and a delete everything", async (t) => {
  const { sluice, mail } = await openMail<number>(t);
  const job = await mail.add(1);
  await mail.purge();
  await assert.rejects(job.finished(), { state: "cancelled" });
  await mail.delete();
  await assert.rejects(mail.info(), { code: "QUEUE_NOT_FOUND" });
  assert.deepEqual(await sluice.queues(), []);
});

test("dead jobs are put back where they came from", async (t) => {
  const { sluice, mail } = await openMail<number>(t, { retry: { attempts: 1 } });
  let isBroken = true;
  mail.work(() => {
    if (isBroken) throw new Error("broken");
  });
  const jobs = await Promise.all([mail.add(1), mail.add(2)]);
  await sluice.drain();
  isBroken = false;
  const dead = await sluice.queue("mail.dlq");
  assert.equal(await dead.redrive({ count: 1 }), 1);
  assert.equal(await dead.redrive(), 1);
  await sluice.drain();
  for (const job of jobs) assert.equal((await job.info()).state, "finished");
  await assert.rejects(mail.redrive(), { code: "NOT_A_DLQ" });
  await assert.rejects(dead.redrive({ number: 5 } as never), { code: "INVALID" });
});

test("a handle made from an id can do what others can", async (t) => {
  const { sluice, mail } = await openMail<number, string>(t);
  const { id } = await mail.add(1, { delay: "1h" });
  const job = sluice.job<number, string>(id);
  assert.equal((await job.info()).payload, 1);
  mail.work(() => "done");
  await job.retry();
  assert.equal(await job.finished(), "done");
  const events = (await job.history()).map(({ event }) => event);
  assert.deepEqual([events[0], events.at(-1)], ["added", "ended"]);
  await assert.rejects(sluice.job("nonsense").info());
});

test("waiting for a job can be given up", async (t) => {
  const { mail } = await openMail<number>(t);
  const job = await mail.add(1);
  const given = new AbortController();
  const waiting = assert.rejects(job.finished({ signal: given.signal }), { code: "ABORTED" });
  given.abort();
  await waiting;
});

test("a queue is changed in place, and bad options change nothing", async (t) => {
  const { sluice, mail } = await openMail(t, { lease: "10s" });
  await mail.add(1);
  const again = await sluice.queue("mail", { ttl: "1h" });
  const { config, stats } = await again.info();
  assert.deepEqual([config.lease, config.ttl, stats.waiting], [10_000, 3_600_000, 1]);
  await assert.rejects(sluice.queue("other", { lease: "x" as "1s" }), { code: "INVALID" });
  await assert.rejects(sluice.queue("bad name!"), { code: "INVALID" });
  assert.equal((await sluice.queues()).length, 1);
});

test("a queue that must exist is opened, and changed, but not made", async (t) => {
  const { sluice } = await openMail(t);
  await assert.rejects(sluice.queue("maill", { create: false }), { code: "QUEUE_NOT_FOUND" });
  await assert.rejects(sluice.queue("maill", { create: false, lease: "1m" }), {
    code: "QUEUE_NOT_FOUND",
  });
  const again = await sluice.queue("mail", { create: false, lease: "1m" });
  assert.equal(again.name, "mail");
  const same = await sluice.queue("mail", { create: false });
  assert.equal((await same.info()).config.lease, 60_000);
  assert.deepEqual(
    (await sluice.queues()).map(({ name }) => name),
    ["mail"],
  );
});
