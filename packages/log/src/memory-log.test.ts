import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { CONFORMANCE_SEGMENT_BYTES, testLog } from "./conformance.ts";
import { MemoryLog } from "./memory-log.ts";

testLog("memory", async () => {
  let log: MemoryLog | undefined;
  return {
    open: async () => {
      log = new MemoryLog({
        segmentBytes: CONFORMANCE_SEGMENT_BYTES,
        ...(log === undefined ? {} : { after: log }),
      });
      return log;
    },
    destroy: async () => {},
  };
});

test("a memory log takes over only from one that is closed", () => {
  const log = new MemoryLog();
  assert.throws(() => new MemoryLog({ after: log }), { code: "LOG_LOCKED" });
});

test("a trim of a memory log gives its memory back", async () => {
  setFlagsFromString("--expose-gc");
  const collect: () => void = runInNewContext("gc");
  const log = new MemoryLog();
  for await (const _batch of log.replay());
  const refs: WeakRef<ArrayBufferLike>[] = [];
  for (let round = 0; round < 40; round++) {
    const position = await log.append(new Uint8Array(100_000));
    refs.push(new WeakRef(log.read(position, 0, 1).buffer));
  }
  await log.trim(Number.MAX_SAFE_INTEGER);
  assert.ok(log.sizeBytes <= 1024 * 1024, `${log.sizeBytes} bytes are left`);
  // A reference holds its target until the end of the turn.
  await new Promise((resolve) => setImmediate(resolve));
  collect();
  const kept = refs.filter((ref) => ref.deref() !== undefined).length;
  assert.ok(kept <= 10, `${kept} batches are still in memory`);
});
