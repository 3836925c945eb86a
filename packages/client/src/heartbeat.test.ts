/** Leases that are kept, lost and given up while a handler runs. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { openBroker } from "@sluice/broker";
import { MemoryLog } from "@sluice/log";
import { type Broker, SluiceError } from "@sluice/protocol";
import { FakeClock, type Queue, type QueueOptions, SluiceHandles } from "./index.ts";

interface World {
  sluice: SluiceHandles;
  mail: Queue<number, string>;
  clock: FakeClock;
  broker: Broker;
  /** Numbers of leases in the calls that extended some. */
  extended: number[];
  /** Makes the connection fail for extensions, and heal. */
  cut(isCut: boolean): void;
}

async function open(t: TestContext, options: QueueOptions<number> = {}): Promise<World> {
  const clock = new FakeClock();
  const broker = await openBroker({ log: new MemoryLog(), clock });
  const extended: number[] = [];
  let isCut = false;
  const port = new Proxy<Broker>(broker, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      if (name !== "extend") return value.bind(target);
      return async (items: []) => {
        if (isCut) throw new SluiceError("DISCONNECTED", "the connection broke");
        extended.push(items.length);
        return target.extend(items);
      };
    },
  });
  const sluice = new SluiceHandles({ port, clock });
  t.after(() => sluice.close());
  return {
    sluice,
    mail: await sluice.queue<number, string>("mail", { lease: "30s", ...options }),
    clock,
    broker,
    extended,
    cut: (value) => {
      isCut = value;
    },
  };
}

/** A handler that runs until `end` is called. */
function held(): { run: () => Promise<string>; end: () => void } {
  const { promise, resolve } = Promise.withResolvers<string>();
  return { run: () => promise, end: () => resolve("done") };
}

test("a long job keeps its lease by heartbeats at a third of it", async (t) => {
  const { clock, extended, mail } = await open(t);
  const { run, end } = held();
  mail.work(run);
  const job = await mail.add(1);
  await clock.advance(9_999);
  assert.deepEqual(extended, []);
  await clock.advance(1);
  assert.deepEqual(extended, [1]);
  await clock.advance("10m");
  assert.equal(extended.length, 61);
  end();
  assert.equal(await job.finished(), "done");
  await clock.advance("1m");
  assert.equal(extended.length, 61, "no heartbeat without a job");
});

test("the heartbeats of many jobs travel together", async (t) => {
  const { sluice, clock, extended, mail } = await open(t);
  const { run, end } = held();
  mail.work(run, { concurrency: 100 });
  const items = Array.from({ length: 50 }, (_, payload) => ({ payload }));
  await mail.addBulk(items);
  await clock.advance("2s");
  await mail.addBulk(items);
  await clock.advance("8s");
  assert.deepEqual(extended, [100], "those that are due soon travel along");
  end();
  await sluice.drain();
});

test("the lease that a worker or a job asks for sets the pace", async (t) => {
  const { sluice, clock, extended, mail } = await open(t);
  const { run, end } = held();
  const worker = mail.work(run, { lease: "3s" });
  await mail.add(1);
  await clock.advance("1s");
  assert.equal(extended.length, 1);
  end();
  await worker.close();
  const other = held();
  mail.work(other.run);
  await mail.add(2, { lease: "10m" });
  await clock.advance("20s");
  await sluice.drain();
  const why = await sluice.job((await only(mail.jobs({ state: "running" }))).id).why();
  assert.ok(why.state === "running" && why.until > clock.now() + 500_000, why.text);
  other.end();
  await sluice.drain();
});

async function only<T>(items: AsyncIterable<T>): Promise<T> {
  for await (const item of items) return item;
  throw new Error("there is none");
}

test("an extension by hand lasts as long as it says", async (t) => {
  const { sluice, clock, mail } = await open(t);
  const { run, end } = held();
  const until: number[] = [];
  mail.work(async (_, { extend }) => {
    until.push(await extend("5m"));
    await extend("never" as "1s").catch((error: SluiceError) => until.push(error.code.length));
    return run();
  });
  const job = await mail.add(1);
  await sluice.drain();
  assert.deepEqual(until, [clock.now() + 300_000, "INVALID".length]);
  await clock.advance("20m");
  end();
  assert.equal(await job.finished(), "done");
});

test("a job that is cancelled from here aborts its handler at once", async (t) => {
  const { sluice, mail } = await open(t);
  const { run, end } = held();
  const signals: AbortSignal[] = [];
  const lost: string[] = [];
  mail.on("lease-lost", ({ job, error }) => lost.push(`${job.payload} ${error.code}`));
  mail.work((_, { signal }) => {
    signals.push(signal);
    return run();
  });
  const job = await mail.add(1);
  await sluice.drain();
  assert.equal(signals[0]?.aborted, false);
  assert.equal(await job.cancel(), true);
  assert.equal(signals[0]?.aborted, true);
  assert.equal(signals[0]?.reason.code, "LEASE_LOST");
  assert.deepEqual(lost, ["1 LEASE_LOST"]);
  assert.equal(await job.cancel(), false);
  end();
  await sluice.drain();
  assert.deepEqual(lost, ["1 LEASE_LOST"], "its end is of no more interest");
  const next = await mail.add(2);
  assert.equal(await next.finished(), "done", "its slot is free again");
  await assert.rejects(job.finished(), { state: "cancelled" });
});

test("a job that is cancelled elsewhere aborts its handler with the next heartbeat", async (t) => {
  const { sluice, clock, broker, mail } = await open(t);
  const { run, end } = held();
  const reasons: unknown[] = [];
  mail.work((_, { signal }) => {
    signal.addEventListener("abort", () => reasons.push(signal.reason.code));
    return run();
  });
  const job = await mail.add(1);
  await sluice.drain();
  await broker.cancel([job.id]);
  await clock.advance("10s");
  assert.deepEqual(reasons, ["ALREADY_FINISHED"]);
  end();
  await sluice.drain();
});

test("a handler that ends after its lease was lost does not stop the worker", async (t) => {
  const { sluice, clock, cut, mail } = await open(t, {
    retry: { min: 0, max: 0 },
  });
  const { run, end } = held();
  const heard: string[] = [];
  sluice.on("error", ({ error }) => heard.push(`error ${error.message}`));
  sluice.on("lease-lost", ({ job }) => heard.push(`lost ${job.attempt}`));
  sluice.on("finished", ({ job }) => heard.push(`finished ${job.attempt}`));
  mail.work(({ attempt }) => (attempt === 0 ? run() : "second"));
  const job = await mail.add(1);
  await sluice.drain();
  cut(true);
  await clock.advance("31s");
  end();
  await sluice.drain();
  assert.equal(await job.finished(), "second");
  assert.deepEqual(heard, [
    "error the connection broke",
    "error the connection broke",
    "error the connection broke",
    "lost 0",
    "finished 1",
  ]);
});

test("reports a failing connection once per heartbeat, not once per job", async (t) => {
  const { sluice, clock, cut, mail } = await open(t);
  const { run, end } = held();
  const errors: Error[] = [];
  sluice.on("error", ({ error }) => errors.push(error));
  mail.work(run, { concurrency: 20 });
  await mail.addBulk(Array.from({ length: 20 }, (_, payload) => ({ payload })));
  cut(true);
  await clock.advance("10s");
  assert.equal(errors.length, 1);
  cut(false);
  await clock.advance("10s");
  assert.equal(errors.length, 1);
  end();
  await sluice.drain();
  assert.equal((await mail.stats()).finished, 20, "the next heartbeat came in time");
});

test("unawaited calls about a lost job do not end the process", async (t) => {
  const { sluice, broker, mail } = await open(t);
  const { run, end } = held();
  const lost: string[] = [];
  mail.on("lease-lost", ({ error }) => lost.push(error.code));
  mail.work(async (job, { extend, progress }) => {
    await broker.cancel([job.id]);
    void extend("1m");
    void progress(1);
    return run();
  });
  await mail.add(1);
  await sluice.drain();
  assert.deepEqual(lost, ["ALREADY_FINISHED"], "the first answer says that it is lost");
  end();
  await sluice.drain();
});

test("the signal of a job that is lost already is aborted when it is asked for", async (t) => {
  const { sluice, clock, broker, mail } = await open(t);
  const { run, end } = held();
  const seen: boolean[] = [];
  mail.work(async (_, context) => {
    const result = await run();
    seen.push(context.signal.aborted);
    return result;
  });
  const job = await mail.add(1);
  await sluice.drain();
  await broker.cancel([job.id]);
  await clock.advance("10s");
  end();
  await sluice.drain();
  assert.deepEqual(seen, [true]);
});
