import assert from "node:assert/strict";
import { test } from "node:test";
import type { Anchor } from "@sluice/log";
import { SluiceError } from "@sluice/protocol";
import { turningClock, turns } from "@sluice/protocol/testing";
import { ANCHOR_MS, RETRY_MS_MAX, UNREADABLE_RETRY_MS_MAX } from "../limits.ts";
import { MemoryRegistry } from "../registry/memory-registry.ts";
import type { OwnerEntry } from "./entries.ts";
import { type KnownLog, type PartitionHost, PartitionLife } from "./partition-life.ts";

const OWN = { node: "a", incarnation: "a1" };
const OTHER = { node: "b", incarnation: "b1" };

class Host implements PartitionHost {
  readonly warmed = Promise.withResolvers<void>();
  readonly calls: string[] = [];
  trouble: SluiceError | undefined;
  /** What its log has confirmed, and what it must have when it is opened. */
  anchor: Anchor | undefined;
  expected: Anchor | undefined;

  warm(): Promise<void> {
    this.calls.push("warm");
    return this.warmed.promise;
  }

  async open(_: number, { anchor }: KnownLog): Promise<void> {
    this.calls.push("open");
    this.expected = anchor;
    if (this.trouble !== undefined) throw this.trouble;
  }

  async close(): Promise<void> {
    this.calls.push("close");
  }

  cool(): void {
    this.calls.push("cool");
  }

  anchorOf(): Anchor | undefined {
    return this.anchor;
  }

  rest(): void {}
  resume(): void {}
  async prove(): Promise<void> {}
}

function lifeOn(host: Host, registry = new MemoryRegistry()) {
  const clock = turningClock(2);
  const errors: SluiceError[] = [];
  const life = new PartitionLife({
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
    life.hear(JSON.stringify({ ...OTHER, address: "", epoch: 1, ...entry }), ++revision);
  return { life, clock, errors, hear };
}

test("what was read ahead for a handover that is called off is let go", async () => {
  const host = new Host();
  const { life, hear } = lifeOn(host);
  hear({ next: OWN });
  life.warm();
  hear({});
  host.warmed.resolve();
  await turns(2);
  assert.equal(life.state, "away");
  assert.deepEqual(host.calls, ["warm", "cool"]);
});

test("what was read ahead is kept for a partition that was handed over meanwhile", async () => {
  const host = new Host();
  const { life, hear } = lifeOn(host);
  hear({ next: OWN });
  life.warm();
  hear({ ...OWN, epoch: 2, isHandedOver: true });
  host.warmed.resolve();
  await turns(2);
  assert.equal(life.state, "away");
  assert.ok(life.isOurs);
  assert.deepEqual(host.calls, ["warm"]);
});

test("a node that ends does not wait for what it reads ahead", async () => {
  const host = new Host();
  const { life, hear, errors } = lifeOn(host);
  hear({ next: OWN });
  life.warm();
  await turns(2);
  assert.ok(life.isBusy);
  life.stopWarming();
  await turns(2);
  assert.ok(!life.isBusy);
  assert.deepEqual(host.calls, ["warm", "cool"]);
  assert.deepEqual(errors, []);
});

test("reports a failed log once, whichever part notices it", async () => {
  const host = new Host();
  const { life, errors } = lifeOn(host);
  for (let opening = 1; opening <= 2; opening++) {
    life.claim();
    await turns(2);
    assert.equal(life.state, "serving");
    const error = new SluiceError("LOG_FAILED", "another owner has taken over");
    life.fail(error);
    life.fail(error);
    assert.equal(errors.length, opening);
    life.lose();
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
    const { life, clock } = lifeOn(host);
    host.trouble = new SluiceError(code, "a test");
    const endAt = clock.now() + 60 * 60_000;
    while (clock.now() < endAt) {
      life.claim();
      await turns(2);
      await clock.advance(Math.max(1, life.retryAt - clock.now()));
    }
    const tries = host.calls.filter((call) => call === "open").length;
    assert.ok(tries > 5 && tries <= triesMax, `${code}: ${tries} tries in an hour`);
    host.trouble = undefined;
    assert.ok(life.retryAt - clock.now() <= pauseMs);
    life.claim();
    await turns(2);
    assert.equal(life.state, "serving");
  }
});

test("a claim goes through when the registry counts otherwise than before", async () => {
  const registry = new MemoryRegistry();
  const host = new Host();
  const { life } = lifeOn(host, registry);
  const text = JSON.stringify({ ...OTHER, address: "", epoch: 1, hasLog: true });
  await registry.create("owner.0", text);
  life.hear(text, 46);
  life.claim();
  await turns(10);
  assert.deepEqual([life.state, host.calls], ["away", []]);
  life.claim();
  await turns(10);
  assert.equal(life.state, "serving");
  assert.deepEqual([life.isOurs, life.entry?.epoch], [true, 2]);
});

test("an owner notes what its log has confirmed, and the next one must find it", async () => {
  const registry = new MemoryRegistry();
  const host = new Host();
  const { life, clock } = lifeOn(host, registry);
  life.claim();
  await turns(5);
  assert.equal(life.state, "serving");
  assert.equal(host.expected, undefined);
  const notedBy = async (position: number): Promise<string | undefined> => {
    host.anchor = { position, chain: 7 };
    life.note();
    await turns(3);
    return (await registry.get("anchor.0"))?.value;
  };
  assert.equal(await notedBy(12), '{"position":12,"chain":7}');
  assert.equal(await notedBy(13), '{"position":12,"chain":7}', "not more often than needed");
  await clock.advance(ANCHOR_MS);
  assert.equal(await notedBy(14), '{"position":14,"chain":7}');
  host.anchor = { position: 20, chain: 8 };
  life.handOver(undefined, "");
  await turns(5);
  const next = new Host();
  const { life: nextLife } = lifeOn(next, registry);
  const entry = await registry.get("owner.0");
  nextLife.hear(entry!.value, entry!.revision);
  nextLife.claim();
  await turns(5);
  assert.deepEqual(next.expected, { position: 20, chain: 8 });
});
