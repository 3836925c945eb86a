import assert from "node:assert/strict";
import { test } from "node:test";
import type { LocalBroker } from "../broker.ts";
import { job, take } from "../testing/opened.ts";
import { addOne, nextEvent, openScript } from "../testing/scripts.ts";

const BY_ERROR = `
  function on_failure(msg)
    if msg.error == "bad" then return { action = "dlq" } end
    if msg.error == "loop" then while true do end end
    return { action = "retry", delay_ms = msg.attempts * 100 + tonumber(msg.headers.plus or 0) }
  end`;

async function taken(broker: LocalBroker, headers: Record<string, string> = {}) {
  await addOne(broker, headers);
  const [leased] = await take(broker);
  return leased!;
}

test("a nack asks the script: after how long it is retried, or that it is dead", async () => {
  const { broker, clock } = await openScript(BY_ERROR);
  const leased = await taken(broker, { plus: "7" });
  const { ok } = (await broker.nack([{ lease: leased.lease, error: "slow" }]))[0]!;
  assert.equal(ok, true);
  const { state, at } = await broker.job(leased.id);
  assert.deepEqual([state, at], ["delayed", clock.now() + 107]);
  await clock.advance(107);
  const [again] = await take(broker);
  assert.equal(again!.attempt, 1);
  await broker.nack([{ lease: again!.lease, error: "bad" }]);
  const dead = await broker.job(leased.id);
  assert.deepEqual([dead.queue, dead.dead?.origin, dead.error], ["q.dlq", "q", "bad"]);
});

test("the script knows the job: id, attempts, error, headers, size and queue", async () => {
  const { broker } = await openScript(`
    function on_failure(m)
      error(m.id .. "|" .. m.attempts .. "|" .. m.attempts_max .. "|" .. m.error .. "|" ..
        m.headers.tenant .. "|" .. m.payload_size .. "|" .. m.queue)
    end`);
  const leased = await taken(broker, { tenant: "acme" });
  const told = nextEvent(broker, "policy-failed");
  await broker.nack([{ lease: leased.lease, error: "boom" }]);
  assert.match((await told).error, new RegExp(`: ${leased.id}\\|1\\|5\\|boom\\|acme\\|1\\|q$`));
  assert.equal((await broker.job(leased.id)).state, "delayed");
});

test("the worker's delay, cooldown and unrecoverable flag win over the script", async () => {
  const { broker, clock } = await openScript(BY_ERROR);
  const [delayed, cooled, hopeless] = [
    await taken(broker),
    await taken(broker),
    await taken(broker),
  ];
  await broker.nack([
    { lease: delayed.lease, delayMs: 5 },
    { lease: cooled.lease, error: "bad", cooldown: { gate: "g", ms: 50 } },
    { lease: hopeless.lease, unrecoverable: true },
  ]);
  assert.equal((await broker.job(delayed.id)).at, clock.now() + 5);
  assert.deepEqual((await broker.job(cooled.id)).attempt, 0);
  assert.equal((await broker.job(hopeless.id)).queue, "q.dlq");
});

test("a script cannot retry a job that has no attempts left", async () => {
  const { broker } = await openScript(BY_ERROR, { retry: { attempts: 1 } });
  const leased = await taken(broker);
  await broker.nack([{ lease: leased.lease, error: "again" }]);
  assert.equal((await broker.job(leased.id)).queue, "q.dlq");
});

test("a lease that runs out asks the script as well", async () => {
  const { broker, clock } = await openScript(BY_ERROR, { lease: 1000 });
  const leased = await taken(broker, { plus: "23" });
  const retried = nextEvent(broker, "retried");
  await clock.advance(1000);
  const { id, attempt, until, error } = await retried;
  assert.deepEqual([id, attempt, error], [leased.id, 1, "the lease expired"]);
  assert.equal(until, clock.now() + 123);
});

test("asks the script together about many leases that expire at once", async () => {
  const { broker, clock } = await openScript(BY_ERROR, { lease: 1000 });
  const jobs = Array.from({ length: 500 }, (_, i) => job(String(i)));
  await broker.add("q", jobs);
  await take(broker, 500);
  const retried = nextEvent(broker, "retried");
  await clock.advance(1000);
  assert.equal((await retried).until, clock.now() + 100);
  const { stats } = await broker.queue("q");
  assert.deepEqual([stats.retried, stats.running], [500, 0]);
});

test("a late script does not hold the job: it fails by its queue's settings", async () => {
  const retry = { min: 5000, max: 5000, jitter: 0 };
  const { broker, clock } = await openScript(
    "function on_failure() return string.find(('a'):rep(60), ('a-'):rep(60) .. 'b') end",
    { lease: 1000, retry },
  );
  const leased = await taken(broker);
  const retried = nextEvent(broker, "retried");
  await clock.advance(1000);
  const { id, until } = await retried;
  assert.deepEqual([id, until], [leased.id, clock.now() + 5000]);
});

test("a queue whose script has no on_failure fails jobs by its own settings", async () => {
  const retry = { min: 700, max: 700, jitter: 0 };
  const lua = "function on_enqueue() return { weight = 2 } end";
  const { broker, clock } = await openScript(lua, { retry });
  const leased = await taken(broker);
  await broker.nack([{ lease: leased.lease }]);
  assert.equal((await broker.job(leased.id)).at, clock.now() + 700);
});
