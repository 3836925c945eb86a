import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { connectBroker } from "@sluice/client/remote";
import type { LeasedJob } from "@sluice/protocol";
import { spawnServer } from "../testing/spawn-server.ts";

const CYCLES = 2;
const ADDERS = 20;
/** Answers after which the server is killed: in the middle of the others. */
const ANSWERS_PER_LIFE = 300;

const decoder = new TextDecoder();

test("a server that is killed under load loses no confirmed add and doubles none", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "sluice-stream-kill-"));
  let server = await spawnServer(dir);
  const client = await connectBroker(server.url);
  t.after(async () => {
    await client.close();
    await server.kill();
    rmSync(dir, { recursive: true, force: true });
  });
  await client.setQueue("q", { lease: 600_000 });

  const confirmed = new Map<string, string>();
  let answers = 0;
  let isOver = false;
  let reached = Promise.withResolvers<void>();
  const add = async (adder: number): Promise<void> => {
    for (let i = 0; !isOver; i++) {
      const name = `${adder}-${i}`;
      const [outcome] = await client.add("q", [{ payload: new TextEncoder().encode(name) }]);
      confirmed.set(name, outcome!.ok!.id);
      if (++answers % ANSWERS_PER_LIFE === 0) reached.resolve();
    }
  };
  const adders = Array.from({ length: ADDERS }, (_, adder) => add(adder));
  for (let cycle = 0; cycle < CYCLES; cycle++) {
    await reached.promise;
    reached = Promise.withResolvers();
    await server.kill();
    server = await spawnServer(dir, server.port);
  }
  isOver = true;
  await Promise.all(adders);

  const { stats } = await client.queue("q");
  assert.equal(stats.added, confirmed.size, "as many jobs as adds that were confirmed");
  const jobs: LeasedJob[] = [];
  const got = Promise.withResolvers<void>();
  await client.consume("q", { worker: "w", credits: confirmed.size }, (more) => {
    jobs.push(...more);
    if (jobs.length === confirmed.size) got.resolve();
  });
  await got.promise;
  for (const { id, payload } of jobs) assert.equal(confirmed.get(decoder.decode(payload)), id);

  // Leases outlive the server too: a kill between the delivery and the ack changes nothing.
  await server.kill();
  server = await spawnServer(dir, server.port);
  const outcomes = await client.ack(jobs.map(({ lease }) => ({ lease })));
  assert.ok(outcomes.every(({ ok }) => ok === true));
  const [again] = await client.ack([{ lease: jobs[0]!.lease }]);
  assert.equal(again?.error?.code, "ALREADY_FINISHED");
  assert.equal((await client.queue("q")).stats.finished, confirmed.size);
});
