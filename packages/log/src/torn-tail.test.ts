import assert from "node:assert/strict";
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { type TestContext, test } from "node:test";
import { checkLog } from "./check.ts";
import { FileLog } from "./file-log.ts";
import { TORN_BYTES_MAX, TORN_FILES_MAX } from "./limits.ts";
import type { TornTail } from "./log.ts";
import type { FileLogOptions } from "./options.ts";
import { realDisk } from "./real-disk.ts";
import { describeTorn } from "./torn-tail.ts";

function folder(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), "sluice-torn-"));
  t.after(() => rmSync(dir, { recursive: true }));
  return dir;
}

/** Opens the log, appends some batches and closes it; answers what was cut and what was there. */
async function life(
  dir: string,
  appends: number,
  options: Partial<FileLogOptions> = {},
): Promise<{ torn: TornTail[]; batches: number }> {
  const torn: TornTail[] = [];
  const log = await FileLog.open({ dir, onTorn: (tail) => torn.push(tail), ...options });
  let batches = 0;
  for await (const _ of log.replay()) batches++;
  for (let i = 0; i < appends; i++) await log.append(Buffer.alloc(100, i));
  assert.deepEqual(log.torn, torn[0]);
  await log.close();
  return { torn, batches };
}

const named = (dir: string, pattern: RegExp): string[] =>
  readdirSync(dir)
    .filter((name) => pattern.test(name))
    .sort();

function tear(dir: string, bytes: Uint8Array | string): void {
  appendFileSync(join(dir, named(dir, /\.log$/).at(-1)!), bytes);
}

test("a torn tail is cut, reported once and kept byte for byte", async (t) => {
  const dir = folder(t);
  await life(dir, 3);
  tear(dir, "half a frame");
  const { torn, batches } = await life(dir, 1);
  assert.equal(batches, 3);
  assert.equal(torn.length, 1);
  assert.equal(torn[0]!.sizeBytes, 12);
  assert.equal(readFileSync(torn[0]!.aside!, "utf8"), "half a frame");
  assert.match(describeTorn(torn[0]!), /^12 bytes at the end of .* cannot be shown to have been/);
  assert.deepEqual(await life(dir, 0), { torn: [], batches: 4 });
});

test("a kept tail is not damage, and a check reports what a start would cut", async (t) => {
  const dir = folder(t);
  await life(dir, 3);
  tear(dir, "half a frame");
  const before = await checkLog(dir);
  assert.deepEqual([before.tornBytes, before.damages], [12, []]);
  await life(dir, 0);
  const after = await checkLog(dir);
  assert.deepEqual([after.tornBytes, after.damages, after.batches], [0, [], 3]);
});

test("a second tail at the same place does not replace the first", async (t) => {
  const dir = folder(t);
  await life(dir, 1);
  for (const text of ["first", "second"]) {
    tear(dir, text);
    await life(dir, 0);
  }
  const texts = named(dir, /^torn-/).map((name) => readFileSync(join(dir, name), "utf8"));
  assert.deepEqual(texts, ["first", "second"]);
});

test("of many tails the newest are kept", async (t) => {
  const dir = folder(t);
  for (let i = 0; i < TORN_FILES_MAX + 2; i++) {
    await life(dir, 1);
    tear(dir, `tail ${i}`);
  }
  await life(dir, 1);
  const kept = named(dir, /^torn-/);
  const texts = kept.map((name) => readFileSync(join(dir, name), "utf8"));
  assert.equal(texts.length, TORN_FILES_MAX);
  assert.deepEqual([texts[0], texts.at(-1)], ["tail 2", `tail ${TORN_FILES_MAX + 1}`]);
});

test("tails are kept up to a limit in bytes: below it, at it and above it", async (t) => {
  const dir = folder(t);
  const sizes = (): number[] => named(dir, /^torn-/).map((name) => statSync(join(dir, name)).size);
  await life(dir, 1);
  tear(dir, new Uint8Array(TORN_BYTES_MAX - 10));
  await life(dir, 1);
  tear(dir, new Uint8Array(10));
  await life(dir, 1);
  assert.deepEqual(sizes(), [TORN_BYTES_MAX - 10, 10]);
  tear(dir, new Uint8Array(1));
  await life(dir, 1);
  assert.deepEqual(sizes(), [10, 1]);
  tear(dir, new Uint8Array(TORN_BYTES_MAX + 1));
  const { torn } = await life(dir, 1);
  assert.equal(torn[0]!.sizeBytes, TORN_BYTES_MAX + 1);
  assert.deepEqual(sizes(), [TORN_BYTES_MAX]);
});

test("on a full disk the tail is cut too, and the report says that it was not kept", async (t) => {
  const dir = folder(t);
  await life(dir, 1);
  tear(dir, "half a frame");
  const open: typeof realDisk.open = async (path, how) => {
    const file = await realDisk.open(path, how);
    if (!basename(path).startsWith("torn-")) return file;
    const full = async (): Promise<number> => {
      throw Object.assign(new Error("no space left"), { code: "ENOSPC" });
    };
    return new Proxy(file, {
      get: (of, name) => {
        const value = Reflect.get(of, name);
        if (name === "write") return full;
        return typeof value === "function" ? value.bind(of) : value;
      },
    });
  };
  const { torn } = await life(dir, 0, { disk: { ...realDisk, open } });
  assert.equal(torn[0]!.aside, undefined);
  assert.match(describeTorn(torn[0]!), /not kept/);
  assert.deepEqual(named(dir, /^torn-/), []);
});

test("without onTorn, the process emits a warning about a torn tail", async (t) => {
  const dir = folder(t);
  await life(dir, 1);
  tear(dir, "half a frame");
  const warned = new Promise<Error & { code?: string }>((resolve) => {
    process.once("warning", resolve);
  });
  await (await FileLog.open({ dir })).close();
  assert.equal((await warned).code, "SLUICE_TORN_TAIL");
});
