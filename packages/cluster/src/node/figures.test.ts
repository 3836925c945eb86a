import assert from "node:assert/strict";
import { test } from "node:test";
import { openBroker } from "@sluice/broker";
import { MemoryLog } from "@sluice/log";
import { turningClock } from "@sluice/protocol/testing";
import { FIGURES_MS } from "../limits.ts";
import { Figures } from "./figures.ts";

test("a partition that was opened again does not have the figures of before", async (t) => {
  const clock = turningClock(20);
  const before = await openBroker({ log: new MemoryLog(), clock });
  const now = await openBroker({ log: new MemoryLog(), clock });
  let broker = before;
  const figures = new Figures(
    clock,
    () => 1,
    () => broker,
  );
  t.after(async () => {
    figures.stop();
    await before.close();
    await now.close();
  });
  await before.setQueue("mail", {});
  await before.add("mail", [{ payload: new Uint8Array(1) }]);
  await clock.advance(FIGURES_MS);
  assert.equal(figures.of(0).jobs, 1);
  broker = now;
  assert.equal(figures.of(0).jobs, 0);
});
