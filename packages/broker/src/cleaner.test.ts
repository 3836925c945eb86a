import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { FileLog } from "@sluice/log";
import { turningClock } from "@sluice/protocol/testing";
import { type LocalBroker, openBroker } from "./broker.ts";
import { idOfAdded, job, take, text } from "./testing/opened.ts";

const SEGMENT_BYTES = 64 * 1024;
const PAYLOAD = "x".repeat(500);

/** Opens and closes brokers on one directory, with segments so small that all are cleaned. */
async function onDisk(run: (reopen: () => Promise<LocalBroker>) => Promise<void>): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), "sluice-"));
  const clock = turningClock(5);
  let broker: LocalBroker | undefined;
  const reopen = async (): Promise<LocalBroker> => {
    await broker?.close();
    const log = await FileLog.open({ dir, segmentBytes: SEGMENT_BYTES, durability: "os" });
    broker = await openBroker({
      log,
      clock,
      segmentBytes: SEGMENT_BYTES,
      payloadMemoryBytes: SEGMENT_BYTES,
    });
    return broker;
  };
  try {
    await run(reopen);
  } finally {
    await broker?.close();
    await rm(dir, { recursive: true, force: true });
  }
}

/** Adds and finishes jobs: garbage for the log. */
async function churn(broker: LocalBroker, rounds: number): Promise<void> {
  for (let i = 0; i < rounds; i++) {
    await broker.add(
      "churn",
      Array.from({ length: 50 }, () => job(PAYLOAD)),
    );
    const jobs = await broker.lease("churn", { max: 50 });
    await broker.ack(jobs.map(({ lease }) => ({ lease })));
  }
}

test("a log over a standing backlog stays within twice the live data and a few segments", () =>
  onDisk(async (reopen) => {
    const broker = await reopen();
    await broker.setQueue("q", { paused: true });
    await broker.setQueue("churn", { results: { jobs: 0 } });
    const backlog = Array.from({ length: 400 }, (_, i) => job(`${i} ${PAYLOAD}`));
    for (let i = 0; i < 400; i += 100) await broker.add("q", backlog.slice(i, i + 100));
    let largest = 0;
    for (let i = 0; i < 25; i++) {
      await churn(broker, 4);
      const { logBytes, liveBytes } = broker.sizes();
      largest = Math.max(largest, logBytes - 2 * liveBytes);
    }
    // A pass takes a few commits, in which this load writes more than such a small segment.
    assert.ok(largest <= 6 * SEGMENT_BYTES, `${largest} bytes above twice the live data`);
  }));

test("after its segment is gone a job is still there, whole and in its place", () =>
  onDisk(async (reopen) => {
    let broker = await reopen();
    await broker.setQueue("churn", { results: { jobs: 0 } });
    await broker.setQueue("q", {});
    await broker.setGate("g", { rate: 1, burst: 5 });
    await broker.storeWrite("s", [{ key: "k", value: { deep: [1] } }]);
    const first = idOfAdded(await broker.add("q", [job("first", { headers: { a: "1" } })]));
    await broker.add("q", [job("second"), job("third", { delayMs: 1000 })]);
    const [gated] = await broker.add("q", [job("gated", { gates: ["g"], fairnessKey: "z" })]);
    const [leased] = await take(broker);
    assert.equal(leased!.id, first);
    await churn(broker, 40);
    broker = await reopen();
    await churn(broker, 40);
    broker = await reopen();
    assert.deepEqual((await broker.job(first)).headers, { a: "1" });
    assert.deepEqual(await broker.ack([{ lease: leased!.lease }]), [{ ok: true }]);
    assert.deepEqual(await broker.storeGet("s", ["k"]), [{ deep: [1] }]);
    const rest = await take(broker, 10);
    assert.deepEqual(rest.map(({ payload }) => text(payload)).sort(), ["gated", "second"]);
    assert.equal((await broker.gate("g")).tokens, 4);
    assert.equal((await broker.queue("q")).stats.delayed, 1);
    assert.ok(gated!.ok);
  }));

test("a backlog beyond the memory for payloads is read back from the log in its order", () =>
  onDisk(async (reopen) => {
    let broker = await reopen();
    await broker.setQueue("q", {});
    const backlog = Array.from({ length: 1000 }, (_, i) => job(`${i} ${PAYLOAD}`));
    await broker.add("q", backlog);
    const seen: string[] = [];
    const takeSome = async (count: number): Promise<void> => {
      const jobs = await take(broker, count);
      seen.push(...jobs.map(({ payload }) => text(payload).split(" ")[0]!));
      await broker.ack(jobs.map(({ lease }) => ({ lease })));
    };
    while (seen.length < 500) await takeSome(100);
    broker = await reopen();
    while (seen.length < 1000) await takeSome(100);
    assert.deepEqual(
      seen,
      backlog.map((_, i) => String(i)),
    );
  }));

test("jobs told in one commit with a mark are still there when all before it is forgotten", () =>
  onDisk(async (reopen) => {
    let broker = await reopen();
    await broker.setQueue("q", { paused: true });
    await broker.setQueue("churn", { results: { jobs: 0 } });
    const added: string[] = [];
    for (let i = 0; i < 30; i++) {
      for (let n = 0; n < 8; n++) {
        const [, answer] = await Promise.all([churn(broker, 1), broker.add("q", [job(PAYLOAD)])]);
        added.push(idOfAdded(answer));
      }
      // A few are left: what lives must not outweigh what is cleaned.
      await broker.cancel(added.splice(0, added.length - 8));
      broker = await reopen();
      for (const id of added) assert.equal((await broker.job(id)).state, "waiting");
    }
  }));
