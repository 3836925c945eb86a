import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { NatsServers } from "@sluice/log/testing";
import type { ClusterStatus } from "@sluice/protocol";
import { Certificates } from "@sluice/server/testing";
import { Sluice } from "sluice";
import { addAll, job, take, textOf } from "../testing/jobs.ts";
import {
  createCluster,
  firstLine,
  newDir,
  runSluice,
  spawnServe,
  start,
} from "../testing/spawn-serve.ts";

/** Far more than the time in which others may take over. */
const END_MS = 60_000;

let nats: NatsServers;
let cluster: string[];

before(async () => {
  nats = await NatsServers.start({ count: 3 });
  const hosts = nats.urls.map((url) => url.slice("nats://".length)).join(",");
  cluster = ["--cluster", `nats://${hosts}`];
});

after(() => nats?.stop());

async function create(name: string, ...words: string[]): Promise<void> {
  await createCluster(cluster[1]!, "--cluster-name", name, ...words);
}

async function statusOf(url: string, ca?: string): Promise<ClusterStatus> {
  const trusting: Record<string, string> = ca === undefined ? {} : { SLUICE_CA: ca };
  const shown = await runSluice(["cluster", "--json"], { SLUICE_URL: url, ...trusting });
  assert.equal(shown.code, 0, shown.err);
  return JSON.parse(shown.out);
}

test("two clusters with names of their own share NATS, each with its nodes and jobs", async (t) => {
  const words = (name: string) => [...cluster, "--cluster-name", name];
  for (const name of ["east", "west"]) await create(name, "--partitions", "2");
  // Without names of their own, on any port that is free: all of them live.
  const east = [await spawnServe(t, words("east")), await spawnServe(t, words("east"))];
  const west = await spawnServe(t, words("west"));
  const status = await statusOf(east[0]!.address);
  assert.equal(status.name, "east");
  assert.deepEqual(
    status.nodes.map(({ address, isAlive }) => [address, isAlive]).toSorted(),
    east.map(({ address }) => [address, true]).toSorted(),
  );
  assert.equal((await statusOf(west.address)).nodes.length, 1);
  for (const [one, text] of [
    [east[1]!, "east"],
    [west, "west"],
  ] as const) {
    const { broker } = await one.connect();
    await broker.setQueue("q", {});
    await addAll(broker, "q", [job(text)]);
    assert.deepEqual((await take(broker, "q", 1)).map(textOf), [text]);
  }
  // Which queues would be found there is a matter of chance.
  const copy = await runSluice(["log", "copy", newDir(), `${cluster[1]}/east-0`]);
  assert.match(copy.err, /east-0 belongs to a cluster of 2 partitions/);
});

test("nodes whose certificates an own authority has signed reach each other", async (t) => {
  const certificates = new Certificates(t);
  const dir = newDir();
  const file = (name: string, text: string): string => {
    writeFileSync(join(dir, name), text);
    return join(dir, name);
  };
  const { cert: ca } = certificates.authority("ca");
  const { cert, key } = certificates.signed("server", "ca");
  const words = [
    ...[...cluster, "--cluster-name", "tls", "--peer-ca", file("ca", ca)],
    ...["--tls-cert", file("cert", cert), "--tls-key", file("key", key)],
  ];
  await create("tls", "--partitions", String(PARTITIONS));
  const nodes = [await spawnServe(t, words), await spawnServe(t, words)];
  const before = await halves(nodes[0]!.address, join(dir, "ca"));
  const sluice = await Sluice.connect(nodes[0]!.address, { tls: { ca } });
  t.after(() => sluice.close({ timeout: 0 }));
  for (let i = 0; i < 2 * PARTITIONS; i++) {
    await sluice.broker.setQueue(`q${i}`, {});
    await addAll(sluice.broker, `q${i}`, [job("x")]);
  }
  // A node that cannot be reached would have lost its share meanwhile.
  assert.deepEqual((await statusOf(nodes[0]!.address, join(dir, "ca"))).moves, before.moves);
});

const PARTITIONS = 8;

/** The status when two nodes have half of the partitions each. */
async function halves(url: string, ca: string): Promise<ClusterStatus> {
  for (;;) {
    const status = await statusOf(url, ca);
    const { partitions } = status;
    const isStill = partitions.every((one) => one.state === "serving" && one.next === undefined);
    const first = partitions.filter(({ owner }) => owner === partitions[0]!.owner);
    if (isStill && first.length === PARTITIONS / 2) return status;
  }
}

test("reports durability by the number of copies that the streams have", async (t) => {
  const words = [...cluster, "--cluster-name", "thin"];
  await create("thin", "--partitions", "1", "--replicas", "1");
  const first = await spawnServe(t, words);
  await (await first.connect()).broker.setQueue("q", {});
  const { durability } = await helloOf(words);
  assert.match(durability, /^A confirmed batch is on 1 server:/);
  assert.match(durability, /Not as wanted: 1 copy of KV_thin, thin-0, not 3; "nats stream edit /);
});

/** What a second node prints when it is up; it ends with the test. */
async function helloOf(words: readonly string[]): Promise<{ durability: string }> {
  const child = start(["serve", "--json", "--port", "0", "--log-level", "error", ...words]);
  try {
    return JSON.parse(await firstLine(child));
  } finally {
    child.kill("SIGKILL");
  }
}

test("what cannot be is refused before anything is made", async () => {
  for (const [words, line] of [
    [["--durability", "memory"], /^durability is for a single server: [^\n]*\n$/],
    [["--advertise", "ftp://a:1"], /^advertise must be an address [^\n]*, got ftp:\/\/a:1\n$/],
  ] as const) {
    const { code, err } = await runSluice(["serve", ...cluster, "--port", "0", ...words]);
    assert.equal(code, 2);
    assert.match(err.replace(/^\{.*\n/gm, ""), line);
  }
});

test("a cluster is created once, on purpose, and as large as asked", async () => {
  const none = await runSluice(["serve", "--port", "0", ...cluster, "--cluster-name", "new"]);
  assert.equal(none.code, 1);
  assert.match(none.err, /there is no cluster here\. .* `sluice cluster create` once/);
  for (const [words, line] of [
    [["--partitions", "0"], /--partitions must be a number of at least 1, got "0"/],
    [["--partitions", "241"], /partitions must be a whole number from 1 to 240, got 241/],
    [["--replicas", "6"], /replicas must be an integer from 1 to 5, got 6/],
    [["--storage", "much"], /--storage must be a size such as 50G, got "much"/],
  ] as const) {
    const at = [...cluster, "--cluster-name", "new", ...words];
    const { code, err } = await runSluice(["cluster", "create", ...at]);
    assert.equal(code, 2, err);
    assert.match(err, line);
  }
  await create("new", "--partitions", "2");
  const again = await runSluice(["cluster", "create", ...cluster, "--cluster-name", "new"]);
  assert.equal(again.code, 1);
  assert.match(again.err, /the cluster new exists already/);
});

test("adds are refused when the storage is nearly full, and acks are not", async (t) => {
  await create("small", "--partitions", "1", "--storage", "8M");
  const server = await spawnServe(t, [...cluster, "--cluster-name", "small"]);
  const { broker } = await server.connect();
  await broker.setQueue("q", {});
  const payload = new Uint8Array(100_000);
  let refusal: { code?: string } | undefined;
  for (let i = 0; i < 300 && refusal === undefined; i++) {
    const added = broker.add("q", [{ payload }]).catch((error) => [{ error }]);
    refusal = (await added)[0]!.error;
    // It is looked at every two seconds; the rest of the storage must last until then.
    if (i > 60) await wait(500);
  }
  assert.equal(refusal?.code, "STORAGE_LOW");
  const ready = await fetch(`${server.address}/readyz`);
  assert.match(await ready.text(), /ready, but JetStream storage is 9\d % full/);
  assert.match(await (await fetch(`${server.address}/metrics`)).text(), /storage_used 0\.9/);
  const shown = await runSluice(["cluster"], { SLUICE_URL: server.address });
  assert.match(shown.out, /storage: 9\d % used; adds are refused/);
  const [job] = await take(broker, "q", 1);
  assert.deepEqual(await broker.ack([{ lease: job!.lease }]), [{ ok: true }]);
});

test("a nats-server that failed the fault tests is refused, unless that is accepted", async (t) => {
  const own = await NatsServers.start({ version: "2.10.27" });
  t.after(() => own.stop());
  const words = ["cluster", "create", "--cluster", own.urls[0]!, "--partitions", "1"];
  const refused = await runSluice(words);
  assert.equal(refused.code, 2);
  assert.match(refused.err, /is nats-server 2\.10\.27; Sluice needs .* --allow-untested-nats/);
  assert.equal((await runSluice([...words, "--allow-untested-nats"])).code, 0);
  const node = await runSluice(["serve", "--port", "0", "--cluster", own.urls[0]!]);
  assert.equal(node.code, 2);
  assert.match(node.err, /nats-server 2\.10\.27/);
  await spawnServe(t, ["--cluster", own.urls[0]!, "--allow-untested-nats"]);
});

test("a node ends on SIGTERM even if NATS hangs", async (t) => {
  const own = await NatsServers.start();
  t.after(() => own.stop());
  await createCluster(own.urls[0]!, "--partitions", "1");
  const server = await spawnServe(t, ["--cluster", own.urls[0]!]);
  await own.pause(0);
  const ended = await Promise.race([server.end("SIGTERM"), wait(END_MS)]);
  own.resume(0);
  assert.equal(ended, 0);
});
