import assert from "node:assert/strict";
import { test } from "node:test";
import { turningClock, turns } from "@sluice/client/testing";
import { SluiceError } from "@sluice/protocol";
import { MemoryRegistry } from "../registry/memory-registry.ts";
import type { OwnerEntry } from "./entries.ts";
import { RETRY_MS_MAX, UNREADABLE_RETRY_MS_MAX } from "./limits.ts";
import { type PartitionHost, Tenure } from "./tenure.ts";

const OWN = { node: "a", incarnation: "a1" };
const OTHER = { node: "b", incarnation: "b1" };

class Host implements PartitionHost {
  readonly warmed = Promise.withResolvers<void>();
  readonly calls: string[] = [];
  trouble: SluiceError | undefined;

  warm(): Promise<void> {
    this.calls.push("warm");
    return this.warmed.promise;
  }

  async open(): Promise<void> {
    this.calls.push("open");
    if (this.trouble !== undefined) throw this.trouble;
  }

  async close(): Promise<void> {
    this.calls.push("close");
  }

  cool(): void {
    this.calls.push("cool");
  }

  rest(): void {}
  resume(): void {}
  async prove(): Promise<void> {}
}

function tenureOn(host: Host, registry = new MemoryRegistry()) {
  const clock = turningClock(2);
  const errors: SluiceError[] = [];
  const tenure = new Tenure({
    partition: 0,
    name: OWN,
    address: "http://a",
    registry,
    clock,
    host,
    onChange: () => {},
    onError: (_, error) => errors.push(error),
  });
  let revision = 0;
  const hear = (entry: Partial<OwnerEntry>): void =>
    tenure.hear(JSON.stringify({ ...OTHER, address: "", epoch: 1, ...entry }), ++revision);
  return { tenure, clock, errors, hear };
}

test("what was read ahead for a handover that is called off is let go", async () => {
  const host = new Host();
  const { tenure, hear } = tenureOn(host);
  hear({ next: OWN });
  tenure.warm();
  hear({});
  host.warmed.resolve();
  await turns(2);
  assert.equal(tenure.state, "away");
  assert.deepEqual(host.calls, ["warm", "cool"]);
});

test("what was read ahead is kept for a partition that was handed over meanwhile", async () => {
  const host = new Host();
  const { tenure, hear } = tenureOn(host);
  hear({ next: OWN });
  tenure.warm();
  hear({ ...OWN, epoch: 2, isHandedOver: true });
  host.warmed.resolve();
  await turns(2);
  assert.equal(tenure.state, "away");
  assert.ok(tenure.isOurs);
  assert.deepEqual(host.calls, ["warm"]);
});

test("a node that ends does not wait for what it reads ahead", async () => {
  const host = new Host();
  const { tenure, hear, errors } = tenureOn(host);
  hear({ next: OWN });
  tenure.warm();
  await turns(2);
  assert.ok(tenure.isBusy);
  tenure.stopWarming();
  await turns(2);
  assert.ok(!tenure.isBusy);
  assert.deepEqual(host.calls, ["warm", "cool"]);
  assert.deepEqual(errors, []);
});

test("a log that fails is told once, by whomever it is noticed", async () => {
  const host = new Host();
  const { tenure, errors } = tenureOn(host);
  for (let life = 1; life <= 2; life++) {
    tenure.claim();
    await turns(2);
    assert.equal(tenure.state, "serving");
    const error = new SluiceError("LOG_FAILED", "another owner has taken over");
    tenure.fail(error);
    tenure.fail(error);
    assert.equal(errors.length, life);
    tenure.lose();
    await turns(2);
  }
});

test("a log that cannot be read is tried more and more seldom", async () => {
  for (const [code, triesMax, pauseMs] of [
    ["LOG_DAMAGED", 25, UNREADABLE_RETRY_MS_MAX],
    ["LOG_VERSION", 25, UNREADABLE_RETRY_MS_MAX],
    ["LOG_FAILED", 2_000, RETRY_MS_MAX],
  ] as const) {
    const host = new Host();
    const { tenure, clock } = tenureOn(host);
    host.trouble = new SluiceError(code, "a test");
    const endAt = clock.now() + 60 * 60_000;
    while (clock.now() < endAt) {
      tenure.claim();
      await turns(2);
      await clock.advance(Math.max(1, tenure.retryAt - clock.now()));
    }
    const tries = host.calls.filter((call) => call === "open").length;
    assert.ok(tries > 5 && tries <= triesMax, `${code}: ${tries} tries in an hour`);
    host.trouble = undefined;
    assert.ok(tenure.retryAt - clock.now() <= pauseMs);
    tenure.claim();
    await turns(2);
    assert.equal(tenure.state, "serving");
  }
});

test("a claim goes through when the registry counts otherwise than it was told", async () => {
  const registry = new MemoryRegistry();
  const host = new Host();
  const { tenure } = tenureOn(host, registry);
  const text = JSON.stringify({ ...OTHER, address: "", epoch: 1, hasLog: true });
  await registry.create("owner.0", text);
  tenure.hear(text, 46);
  tenure.claim();
  await turns(10);
  assert.deepEqual([tenure.state, host.calls], ["away", []]);
  tenure.claim();
  await turns(10);
  assert.equal(tenure.state, "serving");
  assert.deepEqual([tenure.isOurs, tenure.entry?.epoch], [true, 2]);
});
