import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { homeOfQueue } from "@sluice/cluster/router";
import { NatsServers } from "@sluice/log/testing";
import type { Sluice } from "sluice";
import { addAll, job, take, textOf } from "../testing/jobs.ts";
import { newDir, runSluice, spawnServe } from "../testing/spawn-serve.ts";

let nats: NatsServers;
let hosts: string;

before(async () => {
  nats = await NatsServers.start({ count: 3 });
  hosts = nats.urls.map((url) => url.slice("nats://".length)).join(",");
});

after(() => nats?.stop());

const DAY_MS = 86_400_000;

/** Some of everything that a server remembers. */
async function fill(sluice: Sluice): Promise<void> {
  const { broker } = sluice;
  await broker.setQueue("mail", { retry: { attempts: 3 } });
  await broker.setQueue("images", {});
  await addAll(broker, "mail", [job("failed once"), job("done")]);
  for (const leased of await take(broker, "mail", 2)) {
    const { lease } = leased;
    if (textOf(leased) === "done") await broker.ack([{ lease }]);
    else await broker.nack([{ lease, error: "busy", delayMs: 0 }]);
  }
  await addAll(broker, "images", [
    job("behind the gate", { gates: ["smtp"] }),
    job("later", { delayMs: DAY_MS }),
    job("free"),
  ]);
  await broker.setGate("smtp", { windows: [{ limit: 1, per: DAY_MS }] });
  await broker.storeWrite("config", [{ key: "limit", value: 7 }]);
  await broker.storeWrite("notes", [{ key: "a", value: "b" }]);
}

/** All of it is there, and can be worked; `id` is how the place calls the job that it calls so. */
async function checkWhole(sluice: Sluice, id: (inner: string) => string): Promise<void> {
  const { broker } = sluice;
  assert.deepEqual(
    (await sluice.queues()).map(({ name }) => name).toSorted(),
    ["images", "mail"].toSorted(),
  );
  assert.equal((await broker.queue("mail")).config.retry.attempts, 3);
  assert.deepEqual((await sluice.gate("smtp").info()).windows, [
    { limit: 1, per: DAY_MS, used: 0 },
  ]);
  assert.equal(await sluice.store("config").get("limit"), 7);
  assert.equal(await sluice.store("notes").get("a"), "b");
  const [failed] = await take(broker, "mail", 1);
  assert.deepEqual([textOf(failed!), failed!.attempt], ["failed once", 1]);
  assert.match(failed!.id, new RegExp(`^${id("")}[a-z0-9]+$`));
  // A job that is given back keeps its place, and no attempt is counted.
  await broker.giveBack([failed!.lease]);
}

test("a server's data moves to a cluster of one partition and back", async (t) => {
  const [dir, back] = [newDir(), join(newDir(), "back")];
  const alone = await spawnServe(t, ["--keys"], dir);
  await fill(await alone.connect());
  const { key } = alone;
  assert.equal(await alone.end("SIGTERM"), 0);

  const there = await runSluice(["log", "copy", dir, `nats://${hosts}/sluice-0`]);
  assert.equal(there.code, 0, there.err);
  const twice = await runSluice(["log", "copy", dir, `nats://${hosts}/sluice-0`]);
  assert.match(twice.err, /\/sluice-0 is not empty: nothing was copied/);

  const node = (name: string): string[] => [
    ...["--cluster", `nats://${hosts}`, "--keys", "--node", name],
  ];
  const create = ["cluster", "create", "--cluster", `nats://${hosts}`];
  const many = await runSluice([...create, "--partitions", "12"]);
  assert.equal(many.code, 1);
  assert.match(many.err, /there is a log sluice-0 already: .* must have --partitions 1\n/);

  // Without a number it gets what is there.
  assert.equal((await runSluice(create)).code, 0);
  const nodes = [await spawnServe(t, node("a")), await spawnServe(t, node("b"))];
  for (const one of nodes) {
    assert.equal(one.key, undefined, "the keys are there, so none is made");
    await checkWhole(await one.connect(key), (inner) => `0-${inner}`);
  }
  const { broker } = await nodes[1]!.connect(key);
  for (const leased of await take(broker, "images", 2)) await broker.ack([{ lease: leased.lease }]);
  await addAll(broker, "mail", [job("of the cluster")]);
  for (const one of nodes) assert.equal(await one.end("SIGTERM"), 0);

  const again = await runSluice(["log", "copy", `nats://${hosts}/sluice-0`, back]);
  assert.equal(again.code, 0, again.err);
  const home = await spawnServe(t, ["--keys"], back);
  assert.equal(home.key, undefined);
  const sluice = await home.connect(key);
  assert.deepEqual((await sluice.gate("smtp").info()).windows, [
    { limit: 1, per: DAY_MS, used: 1 },
  ]);
  const mail = await take(sluice.broker, "mail", 2);
  assert.deepEqual(
    mail.map((leased) => [textOf(leased), leased.attempt]),
    [
      ["failed once", 1],
      ["of the cluster", 0],
    ],
  );
  const { stats } = await sluice.broker.queue("images");
  assert.deepEqual([stats.waiting, stats.delayed], [0, 1]);
});

test("a server's data is divided over the partitions of a new cluster", async (t) => {
  const partitions = 4;
  const [dir, divided] = [newDir(), join(newDir(), "divided")];
  const alone = await spawnServe(t, ["--keys"], dir);
  const before = await alone.connect();
  await fill(before);
  await before.broker.setQueue("reports", {});
  const ids = await addAll(before.broker, "reports", [job("first"), job("second")]);
  const { key } = alone;
  assert.equal(await alone.end("SIGTERM"), 0);

  const copy = ["log", "copy", dir];
  const parts = ["--partitions", String(partitions)];
  const stream = await runSluice([...copy, `nats://${hosts}/divided-0`, ...parts]);
  assert.equal(stream.code, 2);
  assert.match(stream.err, /the target is a new directory/);
  const copied = await runSluice([...copy, divided, ...parts]);
  assert.equal(copied.code, 0, copied.err);
  assert.match(copied.out, /divided over 4 partitions .* sluice cluster restore/);
  const twice = await runSluice([...copy, divided, ...parts]);
  assert.match(twice.err, /is not empty/);

  const place = ["--cluster", `nats://${hosts}`, "--cluster-name", "divided"];
  const made = await runSluice(["cluster", "restore", divided, ...place]);
  assert.equal(made.code, 0, made.err);
  const nodes = [
    await spawnServe(t, [...place, "--keys", "--node", "a"]),
    await spawnServe(t, [...place, "--keys", "--node", "b"]),
  ];
  const whole = await nodes[1]!.connect(key);
  const { broker } = whole;
  assert.equal((await broker.queue("reports")).stats.waiting, 2);
  const home = homeOfQueue("reports", partitions);
  const reports = await take(broker, "reports", 2);
  assert.deepEqual(
    reports.map(({ id }) => id),
    ids.map((id) => `${home}-${id}`),
  );
  await broker.deleteQueue("reports");
  await checkWhole(whole, (inner) => `${homeOfQueue("mail", partitions)}-${inner}`);
  const images = await take(broker, "images", 2);
  assert.deepEqual(images.map(textOf).toSorted(), ["behind the gate", "free"]);
});
