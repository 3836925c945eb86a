import assert from "node:assert/strict";
import { test } from "node:test";
import { SluiceError } from "@sluice/protocol";
import { clusterEvents } from "./cluster-events.ts";

test("events are JSON with time and level, and a flood of them is cut and counted", () => {
  const lines: string[] = [];
  let now = 1_000;
  const events = clusterEvents(
    (line) => lines.push(line),
    () => now,
  );
  events.tell(7, new SluiceError("LOG_DAMAGED", "the stream is damaged"));
  assert.deepEqual(JSON.parse(lines[0]!), {
    ...{ level: "error", time: 1_000, partition: 7, code: "LOG_DAMAGED" },
    msg: "the stream is damaged",
  });
  for (let i = 0; i < 1_000; i++) events.tell(undefined, new SluiceError("TIMEOUT", "late"));
  assert.equal(lines.length, 20);
  assert.ok(lines.every((line) => line.endsWith("}\n")));
  now += 10_000;
  events.tell(undefined, new SluiceError("TIMEOUT", "late"));
  assert.deepEqual(JSON.parse(lines.at(-1)!), {
    ...{ level: "warn", time: 11_000, code: "TIMEOUT", msg: "late", leftOut: 981 },
  });
});
