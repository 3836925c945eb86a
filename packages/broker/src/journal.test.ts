import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryLog, type Position } from "@sluice/log";
import { openBroker } from "./broker.ts";

const JOB = { payload: new Uint8Array(100) };

/** A log that counts its appends; each waits until `release` is called, once `hold` was. */
class CountingLog extends MemoryLog {
  appends = 0;
  #held: Promise<void> | undefined;
  release: () => void = () => {};

  hold(): void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#held = promise;
    this.release = resolve;
  }

  override async append(facts: Uint8Array): Promise<Position> {
    this.appends++;
    const position = super.append(facts);
    await this.#held;
    return position;
  }
}

test("calls of the same moment take one append", async () => {
  const log = new CountingLog();
  const broker = await openBroker({ log });
  await broker.setQueue("q", {});
  log.appends = 0;
  await Promise.all(Array.from({ length: 1000 }, () => broker.add("q", [JOB])));
  assert.equal(log.appends, 1);
  await broker.close();
});

test("calls that arrive during an append share the next append", async () => {
  const log = new CountingLog();
  const broker = await openBroker({ log });
  await broker.setQueue("q", {});
  log.appends = 0;
  log.hold();
  const adds = [broker.add("q", [JOB])];
  await new Promise(setImmediate);
  assert.equal(log.appends, 1);
  for (let i = 0; i < 50; i++) {
    adds.push(broker.add("q", [JOB]));
    await new Promise(setImmediate);
  }
  assert.equal(log.appends, 1, "the first append is still on its way");
  log.release();
  await Promise.all(adds);
  assert.equal(log.appends, 2);
  await broker.close();
});
