// Calls that no file of the cluster knows by name: their rows alone say where they are made.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type Broker,
  type CallName,
  type CallRow,
  rowOf,
  SluiceError,
  SystemClock,
} from "@sluice/protocol";
import { MemoryDirectory } from "../directory.ts";
import { homeOfGate, homeOfQueue, homeOfStore } from "../hash.ts";
import { PartitionCalls } from "./partition-calls.ts";
import { plainCall } from "./plain-calls.ts";

const COUNT = 3;

/** Partitions that answer a new call with `answer`, and what each was asked. */
function scene(answer: (partition: number, args: readonly unknown[]) => unknown) {
  const made: [partition: number, ...args: unknown[]][] = [];
  const port = (partition: number): Broker => {
    const fresh = async (...args: unknown[]): Promise<unknown> => {
      made.push([partition, ...args]);
      return answer(partition, args);
    };
    return { fresh } as unknown as Broker;
  };
  const directory = new MemoryDirectory(COUNT);
  const partitions = { port, close: async () => {} };
  const calls = new PartitionCalls({ directory, partitions, clock: new SystemClock() });
  const make = async (like: CallName, row: Partial<CallRow>, args: readonly unknown[]) =>
    plainCall("fresh" as CallName, { ...rowOf(like), ...row })(calls, args);
  return { directory, made, make };
}

test("a new call about a queue is made wherever the queue is", async () => {
  const { directory, made, make } = scene((partition) => partition + 1);
  await directory.place("q", [0, 2]);
  assert.equal(await make("purge", {}, ["q", 5]), 4, "numbers are added");
  assert.deepEqual(made, [
    [0, "q", 5],
    [2, "q", 5],
  ]);
});

test("a partition that lacks the queue does not count, unless all do", async () => {
  const missing = new Set([homeOfQueue("q", COUNT)]);
  const { directory, make } = scene((partition) => {
    if (missing.has(partition)) throw new SluiceError("QUEUE_NOT_FOUND", "no such queue");
    return [partition];
  });
  await directory.place("q", [0, 1, 2]);
  const [home] = missing;
  assert.deepEqual(
    await make("purge", {}, ["q"]),
    [0, 1, 2].filter((partition) => partition !== home),
    "lists are joined",
  );
  for (const partition of [0, 1, 2]) missing.add(partition);
  await assert.rejects(make("purge", {}, ["q"]), { code: "QUEUE_NOT_FOUND" });
});

test("a new call about a gate or a store is made at its home", async () => {
  const { made, make } = scene((partition) => ({ partition }));
  const gate = homeOfGate("smtp", COUNT);
  assert.deepEqual(await make("clearCooldown", {}, ["smtp"]), { partition: gate });
  const store = homeOfStore("settings", COUNT);
  assert.deepEqual(await make("storeScan", {}, ["settings", { limit: 1 }]), { partition: store });
  assert.deepEqual(made, [
    [gate, "smtp"],
    [store, "settings", { limit: 1 }],
  ]);
});

test("a new call about jobs is split by their ids, and answered in their order", async () => {
  const { made, make } = scene((partition, [ids]) =>
    (ids as string[]).map((id) => ({ ok: `${partition}:${id}` })),
  );
  const outcomes = (await make("cancel", {}, [["2-b", "0-a", "9-x", "2-c"]])) as {
    ok?: string;
    error?: { code: string };
  }[];
  assert.deepEqual(
    outcomes.map(({ ok, error }) => ok ?? error?.code),
    ["2:2-b", "0:0-a", "JOB_NOT_FOUND", "2:2-c"],
  );
  assert.equal(made.length, 2);
  await assert.rejects(make("history", {}, ["nothing"]), { code: "JOB_NOT_FOUND" });
});
