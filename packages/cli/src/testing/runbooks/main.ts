// The process inside the sandbox: for each runbook it makes the trouble, follows the page, and
// looks whether all is well. It prints a line of JSON for each.

import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectNats } from "@sluice/log/nats";
import { NATS_VERSION } from "@sluice/log/testing";
import type { Broker } from "@sluice/protocol";
import { FaultCluster } from "../faults/fault-cluster.ts";
import { addAll, job, take, textOf } from "../jobs.ts";
import { Operator } from "./operator.ts";
import { blocksUnder } from "./page.ts";

const PAGE = "cluster-runbooks.md";
const PARTITIONS = 3;
const DISK_BYTES = 96 * 1024 * 1024;
const SERVERS = [0, 1, 2];

const tell = (line: Record<string, unknown>): void => console.log(JSON.stringify(line));
const cluster = await FaultCluster.start({
  ...{ version: NATS_VERSION, partitions: PARTITIONS, diskBytes: DISK_BYTES },
});
const operator = new Operator(cluster, mkdtempSync(join(tmpdir(), "sluice-runbook-")));
const { broker } = await cluster.connect();
const queues = await queuesOfAll();

try {
  for (const runbook of [fullDisk, lostMajority, damagedPartition]) {
    const begin = performance.now();
    await runbook();
    tell({ runbook: runbook.name, tookMs: Math.round(performance.now() - begin) });
  }
} catch (error) {
  tell({ failed: String((error as Error).stack ?? error) });
  process.exitCode = 1;
}
operator.close();
await cluster.stop();
process.exit();

// A queue in each partition.
async function queuesOfAll(): Promise<string[]> {
  const found: string[] = [];
  for (let i = 0; found.filter(Boolean).length < PARTITIONS; i++) {
    await broker.setQueue(`q${i}`, {});
    const [id] = await addAll(broker, `q${i}`, [job("first")]);
    found[Number(id!.split("-")[0])] ??= `q${i}`;
    await finished(`q${i}`);
  }
  return found;
}

// Every partition takes a job, and hands out what it was given before.
async function works(before: string): Promise<void> {
  await cluster.settled();
  for (const queue of queues) {
    await addedAtLast(broker, queue, "after");
    const texts: string[] = [];
    while (texts.at(-1) !== "after") texts.push(await finished(queue));
    // An add that was refused may have been stored.
    assert.deepEqual(
      texts.filter((text) => text !== "refused"),
      [before, "after"],
    );
  }
}

// Works off the next job.
async function finished(queue: string): Promise<string> {
  const [next] = await take(broker, queue, 1);
  await broker.ack([{ lease: next!.lease }]);
  return textOf(next!);
}

async function addedAtLast(to: Broker, queue: string, text: string): Promise<void> {
  for (;;) {
    try {
      return void (await addAll(to, queue, [job(text, { dedupe: { key: text } })]));
    } catch {
      // It is served again in a moment.
    }
  }
}

async function fullDisk(): Promise<void> {
  const [look, restart, again] = blocksUnder(PAGE, "A disk of a NATS server is full");
  for (const queue of queues) await addAll(broker, queue, [job("confirmed")]);
  for (const server of SERVERS) cluster.fillDisk(server);
  await assert.rejects(fillUp());
  await operator.follow(look!);
  for (const server of SERVERS) cluster.freeDisk(server);
  await operator.follow(restart!, SERVERS);
  await cluster.settled();
  assert.match(await operator.follow(again!), /serving/);
  await works("confirmed");
}

// Adds until NATS takes no more.
async function fillUp(): Promise<void> {
  const payload = new Uint8Array(500_000);
  for (;;) await broker.add("filling", [{ payload }], { timeout: 5_000 });
}

async function lostMajority(): Promise<void> {
  const [start, again] = blocksUnder(PAGE, "Two of three NATS servers are gone");
  for (const queue of queues) await addAll(broker, queue, [job("confirmed")]);
  await cluster.nats.kill(1);
  await cluster.nats.kill(2);
  await assert.rejects(broker.add(queues[0]!, [job("refused", { dedupe: { key: "refused" } })]));
  await operator.follow(start!, [1, 2]);
  await cluster.settled();
  await operator.follow(again!);
  await works("confirmed");
}

async function damagedPartition(): Promise<void> {
  const [look, reset, restore, again] = blocksUnder(PAGE, "A partition is damaged");
  for (const queue of queues) await addAll(broker, queue, [job("confirmed")]);
  await operator.follow({ language: "sh", text: "sluice cluster backup ./backup" });
  for (const repair of [reset!, restore!]) {
    await damage();
    assert.match(await operator.follow(look!), /sluice-1 is damaged at sequence \d+/);
    await addAll(broker, queues[0]!, [job("meanwhile")]);
    await operator.follow(repair);
    await cluster.settled();
    assert.match(await operator.follow(again!), /serving/);
    const found = await untilServed(queues[1]!);
    assert.equal(found, 1);
  }
}

async function damage(): Promise<void> {
  const connection = await connectNats(cluster.nats.urls);
  connection.publish("sluice.log.sluice-1", "not of Sluice");
  await connection.close();
  for (;;) {
    const error = await broker.add(queues[1]!, [job("lost")], { timeout: 2_000 }).then(
      () => undefined,
      (cause) => cause,
    );
    if (error?.code === "LOG_DAMAGED") return;
  }
}

// How many jobs wait there, when it answers.
async function untilServed(queue: string): Promise<number> {
  for (;;) {
    try {
      return (await broker.queue(queue)).stats.waiting;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
