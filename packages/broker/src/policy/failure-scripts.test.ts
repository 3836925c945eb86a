import assert from "node:assert/strict";
import { test } from "node:test";
import { Engine } from "@sluice/engine";
import { letterQueueConfig, parseQueue } from "@sluice/protocol";
import { LeaseTokens } from "../lease-tokens.ts";
import { FAILURE_SCRIPT_MS } from "../limits.ts";
import { FailureScripts } from "./failure-scripts.ts";
import type { Answer } from "./lua/batch.ts";

const LEASE_MS = 1000;
const RETRY = { attempts: 5, min: 300, max: 300, factor: 1, jitter: 0 };

/** Failure scripts over a real engine with one leased job; the test gives their answer. */
function scene() {
  const said = Promise.withResolvers<Answer[]>();
  const clock = { now: 0 };
  const script = {} as never;
  const tokens = new LeaseTokens();
  tokens.use(new Uint8Array(16));
  let asked = 0;
  const policies = {
    asks: () => script,
    ask: () => {
      asked++;
      return said.promise;
    },
  };
  const engine = new Engine({ letterQueue: letterQueueConfig });
  const scripts: FailureScripts = new FailureScripts({
    calls: { engine, now: () => clock.now, check: () => {} } as never,
    chunks: undefined as never,
    policies: policies as never,
    tokens,
    pump: { call: () => {} } as never,
  });
  engine.setQueue("q", parseQueue("q", { lease: LEASE_MS, retry: RETRY }).config, 0);
  scripts.watch("q", { ...engine.queueConfig("q"), policy: { lua: "" } });
  const { id } = engine.add("q", {}, 0);
  engine.want("q", "w", 1, 0);
  const { lease } = engine.dispatch(0)[0]!;
  const tick = (now: number): void => {
    clock.now = now;
    engine.tick(now);
    scripts.leasesOver(engine.takeOverdue());
  };
  const answer = async (answer: Answer): Promise<void> => {
    said.resolve([answer]);
    await new Promise(setImmediate);
  };
  return { engine, scripts, tokens, id, lease, tick, answer, clock, asked: () => asked };
}

test("an expired lease fails by the script's answer when the answer arrives", async () => {
  const { engine, id, tick, answer, clock } = scene();
  tick(LEASE_MS);
  assert.equal(engine.queries.job(id)!.state, "running");
  clock.now = LEASE_MS + 5;
  await answer({ action: "retry", delayMs: 40 });
  const { state, attempt, at } = engine.queries.job(id)!;
  assert.deepEqual([state, attempt, at], ["delayed", 1, LEASE_MS + 45]);
});

test("if the script is late, the job has failed by its queue's settings", async () => {
  const { engine, id, tick, answer, asked } = scene();
  tick(LEASE_MS);
  tick(LEASE_MS + FAILURE_SCRIPT_MS);
  const { state, at } = engine.queries.job(id)!;
  assert.deepEqual([state, at], ["delayed", LEASE_MS + FAILURE_SCRIPT_MS + RETRY.min]);
  await answer({ action: "dlq" });
  assert.deepEqual(
    [engine.queries.job(id)!.queue, engine.queries.job(id)!.attempt, asked()],
    ["q", 1, 1],
  );
});

test("a worker that extends its lease while the script thinks keeps it", async () => {
  const { engine, id, lease, tick, answer } = scene();
  tick(LEASE_MS);
  engine.extend(id, lease, 5000, LEASE_MS);
  await answer({ action: "dlq" });
  assert.equal(engine.queries.job(id)!.state, "running");
  engine.ack(id, lease, LEASE_MS + 1);
});

test("a worker that acks while the script thinks is done", async () => {
  const { engine, id, lease, tick, answer } = scene();
  tick(LEASE_MS);
  engine.ack(id, lease, LEASE_MS);
  await answer({ action: "dlq" });
  assert.equal(engine.queries.job(id)!.state, "finished");
});

test("a nack that a script judges keeps its lease, but only for a limited time", async () => {
  const { engine, scripts, tokens, id, lease, tick, answer } = scene();
  const verdicts = scripts.nacks([{ lease: tokens.of(id, lease), error: "boom" }]);
  tick(LEASE_MS);
  assert.equal(engine.queries.job(id)!.state, "running");
  tick(LEASE_MS + FAILURE_SCRIPT_MS);
  assert.equal(engine.queries.job(id)!.state, "delayed");
  await answer({ action: "dlq" });
  assert.deepEqual(await verdicts, [{ action: "dlq" }]);
});

test("items that mean nothing are left to the call itself", () => {
  const { scripts, tokens, id, lease } = scene();
  assert.equal(
    scripts.nacks([{ lease: "nonsense" }, { lease: tokens.of(id, lease + 1) }]),
    undefined,
  );
  assert.equal(scripts.nacks([{ lease: tokens.of(id, lease), unrecoverable: true }]), undefined);
});
