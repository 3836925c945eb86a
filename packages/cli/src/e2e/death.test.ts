import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Broker } from "@sluice/protocol";
import { addAll, job, take, textOf } from "../testing/jobs.ts";
import { spawnServe } from "../testing/spawn-serve.ts";

const WORKER = join(import.meta.dirname, "..", "testing", "dying-worker", "main.ts");
const RESUME_MS = 300;
const ATTEMPTS = 2;

/** A worker process that is killed as soon as it holds a job; answers what it held. */
async function dieHolding(t: TestContext, address: string, queue: string): Promise<string> {
  const child = spawn(process.execPath, [WORKER, address, queue], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(() => child.kill("SIGKILL"));
  const [line] = await once(child.stdout, "data");
  child.kill("SIGKILL");
  await once(child, "exit");
  return String(line).trim();
}

/** Loads another queue of the server until the result is called, which answers the jobs done. */
function load(broker: Broker): () => Promise<number> {
  let isOver = false;
  let done = 0;
  const loop = async (): Promise<void> => {
    const batch = Array.from({ length: 50 }, () => job("load"));
    while (!isOver) {
      await addAll(broker, "busy", batch);
      const jobs = await take(broker, "busy", batch.length);
      await broker.ack(jobs.map(({ lease }) => ({ lease })));
      done += jobs.length;
    }
  };
  const loops = Promise.all(Array.from({ length: 2 }, loop));
  return async () => {
    isOver = true;
    await loops;
    return done;
  };
}

test("under full load a job that kills its workers is tried again, and then dead", async (t) => {
  const words = ["--durability", "os", "--resume", String(RESUME_MS)];
  const server = await spawnServe(t, words);
  const { broker } = await server.connect();
  await broker.setQueue("busy", {});
  await broker.setQueue("q", {
    lease: 600_000,
    retry: { attempts: ATTEMPTS, min: 0, jitter: 0 },
  });
  const end = load((await server.connect()).broker);
  const [id] = await addAll(broker, "q", [job("poison", { headers: { kind: "poison" } })]);
  const ended = broker.ended(id!);
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    assert.equal(await dieHolding(t, server.address, "q"), `${id} ${attempt}`);
  }
  const { state } = await ended;
  assert.equal(state, "dead");
  const [dead] = (await broker.jobs("q.dlq")).items;
  assert.equal(textOf(dead!), "poison");
  assert.equal(dead!.headers.kind, "poison");
  assert.match(dead!.error!, /connection to the worker was lost/);
  assert.ok((await end()) > 0, "the server was busy all along");
});

test("leases of a poll outlive its caller, until the visibility timeout", async (t) => {
  const server = await spawnServe(t, ["--durability", "os", "--resume", "1"]);
  const { broker } = await server.connect();
  const leaseMs = 700;
  await broker.setQueue("q", { lease: leaseMs, retry: { min: 0, jitter: 0 } });
  await addAll(broker, "q", [job("x")]);
  const leaver = await server.connect();
  const [held] = await take(leaver.broker, "q", 1);
  const from = performance.now();
  await leaver.close();
  const [again] = await take(broker, "q", 1);
  assert.ok(performance.now() - from > leaseMs / 2, "not when the connection ended");
  assert.equal(again!.id, held!.id);
  assert.equal(again!.attempt, 1, "and that was an attempt");
});
