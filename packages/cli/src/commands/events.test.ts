import assert from "node:assert/strict";
import { test } from "node:test";
import { place } from "../testing/sluice.ts";

test("events are printed as they happen, those that are asked for", async (t) => {
  const { sluice, served } = await place(t);
  const broker = await served.broker;
  await broker.setQueue("mail", {});
  const printed = sluice("events --queue mail --event added --count 2 --json");
  let isOver = false;
  void printed.then(() => {
    isOver = true;
  });
  const payload = Buffer.from("1");
  // The reader may be connected only after some of them.
  while (!isOver) {
    await broker.add("mail", [{ payload }]);
    await new Promise(setImmediate);
  }
  const lines = (await printed).text.split("\n").map((line) => JSON.parse(line));
  assert.deepEqual(
    lines.map(({ event, queue }) => [event, queue]),
    [
      ["added", "mail"],
      ["added", "mail"],
    ],
  );
});

test("an event that there is not is misuse", async (t) => {
  const { sluice } = await place(t);
  assert.equal((await sluice("events --event dancing")).code, 2);
});
