import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { BLOCK_BYTES } from "./limits.ts";
import type { Batch, Log, Position } from "./log.ts";

/** One log of a driver, from its first opening to its end. */
export interface LogHarness {
  /** Opens the log; after a `close` it opens the same one again. Spans of about 4 KiB. */
  open(): Promise<Log>;
  destroy(): Promise<void>;
}

/** The span that a harness is asked for: small, so that a test goes through many. */
export const CONFORMANCE_SEGMENT_BYTES = 4096;

type Act = (harness: LogHarness) => Promise<void>;

/** Registers the tests that every driver of the Log contract has to pass. */
export function testLog(driver: string, makeHarness: () => Promise<LogHarness>): void {
  describe(`the ${driver} log`, () => {
    for (const [name, act] of Object.entries({ ...LIVES, ...READS, ...TRIMS, ...REFUSALS })) {
      test(name, async () => {
        const harness = await makeHarness();
        try {
          await act(harness);
        } finally {
          await harness.destroy();
        }
      });
    }
  });
}

const LIVES: Record<string, Act> = {
  "replays nothing when it is new": async (harness) => {
    const log = await harness.open();
    assert.deepEqual(await collect(log), []);
    assert.equal(log.sizeBytes, 0);
    assert.deepEqual(log.spans(), []);
    await log.close();
  },

  "replays what was appended, byte for byte, under the same positions": async (harness) => {
    const sizes = [0, 1, 7, 31, 32, 33, 512, 4095, 5000, 3, BLOCK_BYTES, BLOCK_BYTES + 1, 300_000];
    const batches = sizes.map((size, index) => bytesOf(size, index));
    const positions: Position[] = [];
    await withLog(harness, async (log) => {
      for (const facts of batches) positions.push(await log.append(facts));
    });
    await withLog(harness, async (_log, replayed) => {
      assert.deepEqual(
        replayed.map(({ position }) => position),
        positions,
      );
      for (const [index, { facts }] of replayed.entries()) assertSame(facts, batches[index]!);
    });
  },

  "keeps the order of the calls when they do not wait for each other": async (harness) => {
    const positions = await withLog(harness, (log) =>
      Promise.all(range(500).map((index) => log.append(bytesOf(index % 90, index)))),
    );
    assertRising(positions);
    await withLog(harness, async (_log, replayed) => {
      assert.equal(replayed.length, 500);
      for (const [index, { position, facts }] of replayed.entries()) {
        assert.equal(position, positions[index]);
        assertSame(facts, bytesOf(index % 90, index));
      }
    });
  },

  "copies the facts before the call returns": async (harness) => {
    await withLog(harness, async (log) => {
      for (const facts of [bytesOf(100, 1), Buffer.from(bytesOf(100, 1))]) {
        const appended = log.append(facts);
        facts.fill(0);
        const position = await appended;
        assertSame(await log.read(position, 0, 100), bytesOf(100, 1));
      }
    });
  },

  "continues after its last entry, over many openings": async (harness) => {
    const positions: Position[] = [];
    for (let life = 0; life < 5; life++) {
      await withLog(harness, async (log, replayed) => {
        assert.equal(replayed.length, life * 10);
        for (const index of range(10)) {
          positions.push(await log.append(bytesOf(300, life * 10 + index)));
        }
      });
    }
    assertRising(positions);
  },

  "confirms what is pending when it is closed": async (harness) => {
    const log = await harness.open();
    await collect(log);
    const appended = range(20).map((index) => log.append(bytesOf(500, index)));
    await log.close();
    assertRising(await Promise.all(appended));
    await withLog(harness, async (_log, replayed) => assert.equal(replayed.length, 20));
  },

  "can be closed twice": async (harness) => {
    const log = await harness.open();
    await Promise.all([log.close(), log.close()]);
    await log.close();
  },
};

const READS: Record<string, Act> = {
  "reads any part of any batch, in this life and in the next": async (harness) => {
    const sizes = [1, 100, 5000, BLOCK_BYTES, 3 * BLOCK_BYTES + 17, 40, 40, 40];
    const positions = await withLog(harness, async (log) => {
      const appended = sizes.map((size, index) => log.append(bytesOf(size, index)));
      const known = await Promise.all(appended);
      await readParts(log, known, sizes);
      return known;
    });
    await withLog(harness, (log) => readParts(log, positions, sizes));
  },

  "reads many parts at once": async (harness) => {
    await withLog(harness, async (log) => {
      const position = await log.append(bytesOf(200_000, 3));
      const whole = bytesOf(200_000, 3);
      const offsets = range(200).map((index) => index * 997);
      const parts = await Promise.all(offsets.map((offset) => log.read(position, offset, 900)));
      for (const [index, offset] of offsets.entries()) {
        assertSame(parts[index]!, whole.subarray(offset, offset + 900));
      }
    });
  },

  "refuses to read outside of a batch": async (harness) => {
    await withLog(harness, async (log) => {
      const position = await log.append(bytesOf(10, 1));
      await log.append(bytesOf(10, 2));
      for (const [offset, length] of [
        [0, 11],
        [11, 0],
        [-1, 1],
        [5, 6],
        [0.5, 1],
        [0, Number.NaN],
      ] as const) {
        await refused("INVALID", async () => log.read(position, offset, length));
      }
      assert.equal((await log.read(position, 10, 0)).length, 0);
    });
  },

  "refuses to read behind its end": async (harness) => {
    await withLog(harness, async (log) => {
      const position = await log.append(bytesOf(10, 1));
      await refused("INVALID", async () => log.read(position + 1_000_000, 0, 1));
      await refused("INVALID", async () => log.read(Number.NaN, 0, 1));
    });
  },
};

const TRIMS: Record<string, Act> = {
  "keeps everything from the position of a trim on": async (harness) => {
    const positions = await fill(harness, 100);
    await withLog(harness, (log) => log.trim(positions[60]!));
    await withLog(harness, async (log, replayed) => {
      const kept = replayed.map(({ position }) => position);
      assert.deepEqual(kept, positions.slice(-kept.length));
      assert.ok(kept.length >= 40 && kept.length < 60, `${kept.length} batches are kept`);
      assertSame(await log.read(positions[60]!, 0, 400), bytesOf(400, 60));
    });
  },

  "gets smaller by a trim and tells it": async (harness) => {
    await fill(harness, 100);
    await withLog(harness, async (log) => {
      const before = log.sizeBytes;
      const spans = log.spans();
      assert.equal(
        spans.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
        before,
      );
      await log.trim(spans[2]!.end);
      assert.deepEqual(log.spans()[0], spans[3]);
      const freed = spans.slice(0, 3).reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
      // The log may need a few bytes to remember the trim.
      assert.ok(log.sizeBytes < before - freed + 200, `${log.sizeBytes} of ${before}`);
    });
  },

  "ends its spans at the limit that its broker sets, and not later": async (harness) => {
    const log = await harness.open();
    log.limitSpans(2048);
    log.limitSpans(8192);
    await collect(log);
    for (const index of range(50)) await log.append(bytesOf(400, index));
    const sizes = log.spans().map(({ sizeBytes }) => sizeBytes);
    assert.ok(Math.max(...sizes) <= 2048, `spans of ${sizes}`);
    assert.ok(sizes.length <= 20, `${sizes.length} spans`);
    await log.close();
  },

  "keeps its newest span whatever is trimmed": async (harness) => {
    const positions = await fill(harness, 50);
    await withLog(harness, async (log) => {
      await log.trim(Number.MAX_SAFE_INTEGER);
      assert.equal(log.spans().length, 1);
      assertSame(await log.read(positions[49]!, 0, 400), bytesOf(400, 49));
    });
    await withLog(harness, async (_log, replayed) => {
      assert.equal(replayed.at(-1)?.position, positions[49]);
    });
  },

  "refuses to read what was trimmed": async (harness) => {
    const positions = await fill(harness, 50);
    await withLog(harness, async (log) => {
      await log.trim(positions[40]!);
      await refused("INVALID", async () => log.read(positions[0]!, 0, 1));
    });
  },

  "never gives a position twice, trimmed or not": async (harness) => {
    const positions = await fill(harness, 30);
    await withLog(harness, (log) => log.trim(Number.MAX_SAFE_INTEGER));
    positions.push(...(await fill(harness, 30)));
    assertRising(positions);
  },

  "can be trimmed while it is appended to": async (harness) => {
    await fill(harness, 60);
    const positions = await withLog(harness, async (log) => {
      const spans = log.spans();
      const appended = range(60).map((index) => log.append(bytesOf(400, index)));
      await Promise.all(spans.map(({ end }) => log.trim(end)));
      return Promise.all(appended);
    });
    await withLog(harness, async (_log, replayed) => {
      const kept = replayed.map(({ position }) => position);
      assert.deepEqual(kept.slice(-60), positions);
    });
  },
};

const REFUSALS: Record<string, Act> = {
  "takes no append before the replay has come to its end": async (harness) => {
    await fill(harness, 3);
    const log = await harness.open();
    await refused("INVALID", () => log.append(bytesOf(1, 1)));
    for await (const _batch of log.replay()) break;
    await refused("INVALID", () => log.append(bytesOf(1, 1)));
    await log.close();
  },

  "tells when its batches were stored, or has no clock at all": async (harness) => {
    await fill(harness, 5);
    await withLog(harness, async (log, replayed) => {
      const times = [...replayed.map(({ storedAt }) => storedAt), log.replayedAt];
      const known = times.filter((time) => time !== undefined);
      assert.ok(known.length === 0 || known.length === times.length);
      assert.deepEqual(
        known,
        known.toSorted((a, b) => a - b),
      );
    });
  },

  "is replayed once": async (harness) => {
    await withLog(harness, async (log) => {
      await refused("INVALID", () => collect(log));
    });
  },

  "takes nothing any more when it is closed": async (harness) => {
    const log = await harness.open();
    await collect(log);
    const position = await log.append(bytesOf(1, 1));
    await log.close();
    await refused("CLOSED", () => log.append(bytesOf(1, 1)));
    await refused("CLOSED", async () => log.read(position, 0, 1));
    await refused("CLOSED", () => log.trim(position));
    await refused("CLOSED", () => collect(log));
  },

  "takes nothing but bytes": async (harness) => {
    await withLog(harness, async (log) => {
      await refused("INVALID", () => log.append("text" as unknown as Uint8Array));
    });
  },
};

async function collect(log: Log): Promise<Batch[]> {
  const batches: Batch[] = [];
  for await (const batch of log.replay()) batches.push(batch);
  return batches;
}

async function withLog<T>(
  harness: LogHarness,
  act: (log: Log, replayed: Batch[]) => Promise<T>,
): Promise<T> {
  const log = await harness.open();
  try {
    return await act(log, await collect(log));
  } finally {
    await log.close();
  }
}

function fill(harness: LogHarness, count: number): Promise<Position[]> {
  return withLog(harness, async (log) => {
    const positions: Position[] = [];
    for (const index of range(count)) positions.push(await log.append(bytesOf(400, index)));
    return positions;
  });
}

async function readParts(
  log: Log,
  positions: readonly Position[],
  sizes: readonly number[],
): Promise<void> {
  for (const [index, position] of positions.entries()) {
    const whole = bytesOf(sizes[index]!, index);
    for (const offset of [0, 1, 50, BLOCK_BYTES - 1, BLOCK_BYTES, whole.length - 1]) {
      for (const length of [0, 1, 100, BLOCK_BYTES, whole.length - offset]) {
        if (offset < 0 || length < 0 || offset + length > whole.length) continue;
        assertSame(
          await log.read(position, offset, length),
          whole.subarray(offset, offset + length),
        );
      }
    }
  }
}

/** Bytes that differ from those of every other seed and from themselves moved. */
function bytesOf(size: number, seed: number): Uint8Array {
  const bytes = new Uint8Array(size);
  let state = seed + 1;
  for (let index = 0; index < size; index++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    bytes[index] = state >>> 24;
  }
  return bytes;
}

function range(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}

/** `deepEqual` of large arrays takes seconds. */
function assertSame(actual: Uint8Array, expected: Uint8Array): void {
  assert.equal(Buffer.compare(actual, expected), 0, "the bytes differ");
}

function assertRising(positions: readonly Position[]): void {
  for (const [index, position] of positions.entries()) {
    assert.ok(Number.isSafeInteger(position));
    assert.ok(index === 0 || position > positions[index - 1]!, `position ${index} does not rise`);
  }
}

function refused(code: string, act: () => Promise<unknown>): Promise<void> {
  return assert.rejects(act, (error: Error & { code?: string }) => {
    assert.equal(error.code, code);
    return true;
  });
}
