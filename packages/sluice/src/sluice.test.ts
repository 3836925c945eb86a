import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type Durability, FakeClock, type OpenOptions, Sluice, type SluiceError } from "./index.ts";

/** A directory that goes with its test. */
function folder(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), "sluice-open-"));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

test("memory needs no directory and no configuration", async () => {
  await using sluice = await Sluice.open({ durability: "memory" });
  const mail = await sluice.queue<string, string>("mail");
  mail.work(({ payload }) => `sent ${payload}`);
  assert.equal(await (await mail.add("x")).finished(), "sent x");
});

for (const durability of ["fsync", "os"] as const satisfies Durability[]) {
  test(`what was answered is there after a restart (${durability})`, async (t) => {
    const dir = join(folder(t), "made", "by", "open");
    let id: string;
    {
      await using sluice = await Sluice.open({ dir, durability });
      const mail = await sluice.queue("mail", { lease: "10s" });
      await sluice.gate("smtp").set({ rate: 5 });
      await sluice.store("settings").put("a", { n: 1 });
      ({ id } = await mail.add({ to: "x" }, { headers: { tenant: "acme" } }));
    }
    await using sluice = await Sluice.open({ dir, durability });
    const { payload, headers, state } = await sluice.job(id).info();
    assert.deepEqual([payload, headers, state], [{ to: "x" }, { tenant: "acme" }, "waiting"]);
    assert.equal((await sluice.gate("smtp").info()).config?.rate, 5);
    assert.deepEqual(await sluice.store("settings").get("a"), { n: 1 });
    const mail = await sluice.queue("mail");
    assert.equal((await mail.info()).config.lease, 10_000);
    mail.work(() => {});
    await sluice.job(id).finished();
  });
}

test("a policy is kept with its queue, functions stay with the handle", async (t) => {
  const dir = folder(t);
  const lua = `
    function on_enqueue(msg) return { weight = sluice.get("weight:" .. msg.headers.tenant) } end
    function on_failure(msg) return { action = msg.error:find("hopeless") and "dlq" } end`;
  {
    await using sluice = await Sluice.open({ dir });
    await sluice.store("config").put("weight:acme", 4);
    await sluice.queue("mail", { policy: { fairnessKey: "{headers.tenant}", ttl: "1h", lua } });
  }
  await using sluice = await Sluice.open({ dir });
  const mail = await sluice.queue<string>("mail", { policy: { gates: (name) => [`to:${name}`] } });
  const { policy } = (await mail.info()).config;
  assert.deepEqual(policy, { fairnessKey: "{headers.tenant}", ttl: 3_600_000, lua });
  const job = await mail.add("ann", { headers: { tenant: "acme" } });
  const { fairnessKey, weight, gates, deadline, addedAt } = await job.info();
  assert.deepEqual([fairnessKey, weight, gates], ["acme", 4, ["to:ann"]]);
  assert.equal(deadline! - addedAt, 3_600_000);
  mail.work(() => {
    throw new Error("hopeless");
  });
  await assert.rejects(job.finished(), /hopeless/);
  const { queue, dead } = await job.info();
  assert.deepEqual([queue, dead?.attempts], ["mail.dlq", 1]);
});

test("a directory in use is refused, and is free after the close", async (t) => {
  const dir = folder(t);
  const first = await Sluice.open({ dir });
  await assert.rejects(Sluice.open({ dir }), { code: "LOG_LOCKED" });
  await first.close();
  await (await Sluice.open({ dir })).close();
});

test("a directory that cannot be one is refused", async (t) => {
  const file = join(folder(t), "file");
  writeFileSync(file, "");
  await assert.rejects(Sluice.open({ dir: file }), (error) => "code" in (error as Error));
});

test("options are checked before anything is opened", async () => {
  const refused: [string, object | undefined][] = [
    ["open.dir", undefined],
    ["open.dir", { dir: "" }],
    ["open.dir", { dir: "x", durability: "memory" }],
    ["open.durability", { dir: "x", durability: "none" }],
    ["open.directory", { directory: "x" }],
    ["open", null as unknown as object],
    ["open", [] as object],
    ["open.clock", { durability: "memory", clock: {} }],
    ["open.clock", { durability: "memory", clock: null }],
    ["open.seed", { durability: "memory", seed: "x" }],
    ["open.segmentBytes", { durability: "memory", segmentBytes: "64 MiB" }],
  ];
  for (const [field, options] of refused) {
    await assert.rejects(
      Sluice.open(options as OpenOptions),
      (error) => (error as SluiceError).details.field === field,
      field,
    );
  }
  await assert.rejects(Sluice.open({ durability: "memory", payloadBytesMax: 0 }), {
    code: "INVALID",
  });
});

test("limits reach the broker", async () => {
  await using sluice = await Sluice.open({ durability: "memory", payloadBytesMax: 10 });
  const mail = await sluice.queue("mail");
  await mail.add("12345678");
  await assert.rejects(mail.add("123456789"), { code: "PAYLOAD_TOO_LARGE" });
});

test("draining lets a log on disk finish too, while the clock does not move", async (t) => {
  const clock = new FakeClock();
  await using sluice = await Sluice.open({ dir: folder(t), clock });
  const mail = await sluice.queue<number>("mail");
  const times: number[] = [];
  const start = clock.now();
  mail.work(({ payload }) => {
    times.push(clock.now() - start);
    if (payload > 0) void mail.add(payload - 1);
  });
  await mail.add(3);
  await sluice.drain();
  assert.deepEqual(times, [0, 0, 0, 0], "each job that a job adds runs too");
  await mail.add(0, { delay: "1h" });
  await clock.drain(sluice);
  assert.equal(times.length, 4);
  await clock.advance("1h");
  assert.deepEqual(times.slice(4), [3_600_000]);
});

test("a job that waits for room does not keep a drain from ending", async () => {
  const clock = new FakeClock();
  await using sluice = await Sluice.open({ durability: "memory", clock });
  const mail = await sluice.queue<number>("mail", { capacity: { jobs: 1 }, onFull: "wait" });
  await mail.add(1);
  const refused = assert.rejects(mail.add(2), { code: "QUEUE_FULL" });
  await sluice.drain();
  await clock.advance("5s");
  await refused;
});

test("a handler that waits for something outside is left waiting by a drain", async () => {
  await using sluice = await Sluice.open({ durability: "memory", clock: new FakeClock() });
  const mail = await sluice.queue<number>("mail");
  const { promise, resolve } = Promise.withResolvers<void>();
  const worker = mail.work(() => promise);
  await mail.add(1);
  await sluice.drain();
  assert.equal(worker.running, 1);
  resolve();
  await sluice.drain();
  assert.equal(worker.running, 0);
});

test("a year of a daily job runs in a moment", async () => {
  const clock = new FakeClock({ now: Date.UTC(2031, 0, 1) });
  await using sluice = await Sluice.open({ durability: "memory", clock });
  const reports = await sluice.queue<string>("reports");
  const days: string[] = [];
  reports.work(async () => {
    days.push(new Date(clock.now()).toISOString().slice(0, 10));
    await reports.add("daily", { delay: "1d" });
  });
  await reports.add("daily");
  await clock.advance("364d");
  assert.equal(days.length, 365);
  assert.deepEqual([days[0], days[31], days[364]], ["2031-01-01", "2031-02-01", "2031-12-31"]);
});

test("cuts off a tail that was never confirmed, and warns", async (t) => {
  const dir = folder(t);
  const sluice = await Sluice.open({ dir, durability: "os" });
  await (await sluice.queue("mail")).add(1);
  await sluice.close();
  const [segment] = readdirSync(dir).filter((name) => name.endsWith(".log"));
  appendFileSync(join(dir, segment!), "half a frame");
  const warned = once(process, "warning");
  const again = await Sluice.open({ dir });
  const [warning] = await warned;
  assert.equal(warning.code, "SLUICE_TORN_TAIL");
  assert.match(warning.message, /^12 bytes/);
  await again.close();
});

test("an open queue with a job for later does not keep the process alive", async (t) => {
  const script = `
    import { Sluice } from "sluice";
    const sluice = await Sluice.open({ dir: ${JSON.stringify(folder(t))} });
    await (await sluice.queue("mail")).add(1, { delay: "1h" });
  `;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    cwd: import.meta.dirname,
    stdio: "inherit",
  });
  const [code] = await once(child, "exit");
  assert.equal(code, 0);
});
