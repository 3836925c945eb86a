import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { openBroker } from "@sluice/broker";
import { connectNats, NatsLog } from "@sluice/log/nats";
import { NatsServers } from "@sluice/log/testing";
import { Sluice } from "sluice";
import { command } from "../testing/sluice.ts";

const root = await mkdtemp(join(tmpdir(), "sluice-copy-"));
after(() => rm(root, { recursive: true }));

const JOBS = 3000;
const textOf = (number: number): string => `${number} `.repeat(500);

/** A log that was cleaned, with payloads beyond the memory for them, and jobs of every state. */
async function fill(dir: string): Promise<void> {
  await using sluice = await Sluice.open({ dir, segmentBytes: 1024 * 1024 });
  const gone = await sluice.queue("gone");
  const kept = await sluice.queue("kept");
  for (let i = 0; i < JOBS; i += 500) {
    await gone.addBulk(Array.from({ length: 500 }, (_, j) => ({ payload: textOf(i + j) })));
    await gone.purge();
    await kept.addBulk(Array.from({ length: 500 }, (_, j) => ({ payload: textOf(i + j) })));
  }
  await sluice.store("config").put("limit", 7);
}

async function checkCopy(sluice: Sluice): Promise<void> {
  assert.deepEqual(await sluice.store("config").get("limit"), 7);
  const numbers: number[] = [];
  const queue = await sluice.queue("kept");
  for await (const job of queue.consume({ prefetch: 100 })) {
    const text = job.payload as string;
    const number = Number.parseInt(text, 10);
    assert.equal(text, textOf(number));
    numbers.push(number);
    await job.ack();
    if (numbers.length === JOBS) break;
  }
  assert.deepEqual(
    numbers.toSorted((a, b) => a - b),
    Array.from({ length: JOBS }, (_, i) => i),
  );
}

test("a log moves to a cluster of NATS servers and back, with every job", async () => {
  const servers = await NatsServers.start({ count: 3 });
  try {
    const [dir, back] = [join(root, "data"), join(root, "back")];
    await fill(dir);
    const hosts = servers.urls.map((url) => url.slice("nats://".length)).join(",");
    const stream = `nats://${hosts}/moved`;
    const there = await command(["log", "copy", dir, stream, "--json"]);
    assert.equal(there.code, 0);
    assert.ok(JSON.parse(there.text).batches > 0);
    const again = await command(["log", "copy", stream, back, "--json"]);
    assert.deepEqual(JSON.parse(again.text), JSON.parse(there.text));
    await using sluice = await Sluice.open({ dir: back, payloadMemoryBytes: 1024 * 1024 });
    await checkCopy(sluice);
    const connection = await connectNats(servers.urls);
    const log = await NatsLog.open({ connection, stream: "moved" });
    const broker = await openBroker({ log, payloadMemoryBytes: 1024 * 1024 });
    const leased = await broker.lease("kept", { max: JOBS });
    assert.equal(leased.length, JOBS);
    for (const [number, { payload }] of leased.entries()) {
      assert.equal(JSON.parse(new TextDecoder().decode(payload)), textOf(number));
    }
    await broker.close();
    await connection.close();
    await assert.rejects(command(["log", "copy", `nats://${hosts}/none`, join(root, "x")]), {
      code: "NOT_FOUND",
    });
  } finally {
    await servers.stop();
  }
});

test("a stream is checked and exported while its owner writes to it", async () => {
  const servers = await NatsServers.start();
  const connection = await connectNats(servers.urls);
  const stream = `nats://${new URL(servers.urls[0]!).host}/online`;
  const log = await NatsLog.open({ connection, stream: "online" });
  const broker = await openBroker({ log });
  await broker.setQueue("kept", {});
  const payload = new TextEncoder().encode("x");
  await broker.add("kept", [{ payload }, { payload }]);
  const checked = await command(["log", "check", stream]);
  assert.equal(checked.code, 0, checked.text);
  assert.match(checked.text, /no damage/);
  const dir = join(root, "exported");
  const exported = await command(["log", "export", stream, dir]);
  assert.equal(exported.code, 0, exported.text);
  // Its owner was not shut out.
  const [added] = await broker.add("kept", [{ payload }]);
  assert.ok(added?.ok);
  await broker.close();
  await connection.close();
  await servers.stop();
  await using copy = await Sluice.open({ dir });
  assert.equal((await (await copy.queue("kept")).stats()).waiting, 2);
});
