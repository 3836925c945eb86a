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
import { firstLine, newDir, runSluice, spawnServe, start } from "../testing/spawn-serve.ts";

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

async function statusOf(url: string, ca?: string): Promise<ClusterStatus> {
  const trusting: Record<string, string> = ca === undefined ? {} : { SLUICE_CA: ca };
  const shown = await runSluice(["cluster", "--json"], { SLUICE_URL: url, ...trusting });
  assert.equal(shown.code, 0, shown.err);
  return JSON.parse(shown.out);
}

test("two clusters with names of their own share NATS, each with its nodes and jobs", async (t) => {
  const words = (name: string) => [...cluster, "--cluster-name", name, "--partitions", "2"];
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
    ...[
      ...cluster,
      "--cluster-name",
      "tls",
      "--partitions",
      String(PARTITIONS),
      "--peer-ca",
      file("ca", ca),
    ],
    ...["--tls-cert", file("cert", cert), "--tls-key", file("key", key)],
  ];
  const nodes = [await spawnServe(t, words), await spawnServe(t, words)];
  const before = await halves(nodes[0]!.address, join(dir, "ca"));
  const sluice = await Sluice.connect(nodes[0]!.address, { tls: { ca } });
  t.after(() => sluice.close({ timeout: 0 }));
  for (let i = 0; i < 2 * PARTITIONS; i++) {
    await sluice.broker.setQueue(`q${i}`, {});
    await addAll(sluice.broker, `q${i}`, [job("x")]);
  }
  // Whoever cannot be reached would have lost its share meanwhile.
  assert.deepEqual((await statusOf(nodes[0]!.address, join(dir, "ca"))).moves, before.moves);
});

const PARTITIONS = 8;

/** How it stands when two nodes have half of the partitions each. */
async function halves(url: string, ca: string): Promise<ClusterStatus> {
  for (;;) {
    const status = await statusOf(url, ca);
    const { partitions } = status;
    const isStill = partitions.every((one) => one.state === "serving" && one.next === undefined);
    const first = partitions.filter(({ owner }) => owner === partitions[0]!.owner);
    if (isStill && first.length === PARTITIONS / 2) return status;
  }
}

test("what is kept through what is told by the copies that the streams have", async (t) => {
  const words = [...cluster, "--cluster-name", "thin", "--partitions", "1"];
  const first = await spawnServe(t, [...words, "--replicas", "1"]);
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
    [["--replicas", "0"], /^--replicas must be an integer from 1 to 5, got 0\n$/],
    [["--durability", "memory"], /^durability is for a single server: [^\n]*\n$/],
    [["--advertise", "ftp://a:1"], /^advertise must be an address [^\n]*, got ftp:\/\/a:1\n$/],
  ] as const) {
    const { code, err } = await runSluice(["serve", ...cluster, "--port", "0", ...words]);
    assert.equal(code, 2);
    assert.match(err.replace(/^\{.*\n/gm, ""), line);
  }
});

test("a node that is told to end does so, though NATS hangs", async (t) => {
  const own = await NatsServers.start();
  t.after(() => own.stop());
  const server = await spawnServe(t, ["--cluster", own.urls[0]!, "--partitions", "1"]);
  await own.pause(0);
  const ended = await Promise.race([server.end("SIGTERM"), wait(END_MS)]);
  own.resume(0);
  assert.equal(ended, 0);
});
