import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";

const MODULE = new URL("./short-pauses.ts", import.meta.url).href;
/** Objects that live for a while are what makes a young generation grow. */
const WORK = `
import { getHeapSpaceStatistics } from "node:v8";
const ring = new Array(60_000);
for (let i = 0; i < 2_000_000; i++) ring[i % ring.length] = { i, list: [i], text: "x" + i };
const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space");
console.log(young.space_size / 2 ** 20);`;
const KEEP = `import { keepPausesShort } from "${MODULE}"; keepPausesShort();`;

function youngMib(script: string, ...options: string[]): number {
  const args = [...options, "--input-type=module", "--eval", script];
  return Number(execFileSync(process.execPath, args));
}

test("the young generation of the heap stays small, so that collections are short", () => {
  const small = youngMib(`${KEEP}\n${WORK}`);
  assert.ok(small <= 8, `${small} MiB`);
  const usual = youngMib(WORK);
  assert.ok(usual > 2 * small, `it would grow: ${usual} MiB`);
});

test("threads of handlers begin with a larger one", () => {
  const module = JSON.stringify(`data:text/javascript,${encodeURIComponent(WORK)}`);
  const thread = youngMib(`${KEEP}
import { Worker } from "node:worker_threads";
new Worker(new URL(${module}), { resourceLimits: { maxOldGenerationSizeMb: 512 } });`);
  assert.equal(thread, 16, "8 MiB, twice");
});

test("a size that the operator has set holds", () => {
  assert.ok(youngMib(`${KEEP}\n${WORK}`, "--max-semi-space-size=16") > 8);
});
