// What a user's program does, in any runtime: open, add, work, restart, connect, a gate, and a
// delayed job by a fake clock. Arguments: a directory, and the address of a server.

import assert from "node:assert/strict";
import { FakeClock, RetryAfter, Sluice, SluiceError } from "sluice";

const [dir, url] = process.argv.slice(2);

async function workInDirectory() {
  const sluice = await Sluice.open({ dir });
  const mail = await sluice.queue("mail");
  mail.work(async (job) => `sent to ${job.payload.to}`);
  const job = await mail.add({ to: "ann" });
  assert.equal(await job.finished(), "sent to ann");
  const other = await sluice.queue("later");
  const kept = await other.add({ to: "ben" });
  await sluice.close();
  return kept.id;
}

async function workAfterRestart(id) {
  const sluice = await Sluice.open({ dir });
  const second = await Sluice.open({ dir }).catch((error) => error);
  assert.ok(second instanceof SluiceError);
  assert.equal(second.code, "LOG_LOCKED");
  const later = await sluice.queue("later");
  const done = Promise.withResolvers();
  later.work(async (job) => done.resolve([job.id, job.payload.to]));
  assert.deepEqual(await done.promise, [id, "ben"]);
  await sluice.close();
}

async function passGate(sluice) {
  await sluice.gate("smtp").set({ concurrency: 1 });
  await sluice.gate("smtp").cooldown("1h", "429 from the provider");
  const queue = await sluice.queue("gated");
  queue.work(async () => "passed");
  const job = await queue.add({}, { gates: ["smtp"] });
  assert.match((await sluice.why(job.id)).text, /smtp/);
  await sluice.gate("smtp").clear();
  assert.equal(await job.finished(), "passed");
}

async function waitByFakeClock() {
  const clock = new FakeClock({ now: new Date("2030-05-01T09:00:00Z") });
  const sluice = await Sluice.open({ durability: "memory", clock });
  const queue = await sluice.queue("reminders");
  const ran = [];
  queue.work(async (job) => {
    ran.push(new Date(clock.now()).toISOString());
    if (job.attempt === 0) throw new RetryAfter("1h");
  });
  await queue.add({}, { delay: "1d" });
  await clock.advance("23h");
  assert.deepEqual(ran, []);
  await clock.advance("1h");
  assert.deepEqual(ran, ["2030-05-02T09:00:00.000Z"]);
  await sluice.close();
}

async function workOverNetwork() {
  const sluice = await Sluice.connect(url);
  const queue = await sluice.queue(`network-${process.pid}`);
  queue.work(async (job) => job.payload.number + 1);
  const job = await queue.add({ number: 41 });
  assert.equal(await job.finished(), 42);
  await passGate(sluice);
  await sluice.close();
}

await workAfterRestart(await workInDirectory());
const embedded = await Sluice.open({ durability: "memory" });
await passGate(embedded);
await embedded.close();
await waitByFakeClock();
await workOverNetwork();
console.log("all is well");
