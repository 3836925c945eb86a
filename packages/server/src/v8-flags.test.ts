import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { growthPercent, isGiven } from "./v8-flags.ts";

const MODULE = new URL("./v8-flags.ts", import.meta.url).href;
const SET = `import { setServerFlags } from "${MODULE}"; setServerFlags();`;
const OWN = "--max-inlined-bytecode-size-cumulative=920";

/** One function that calls forty, of some 50 bytes of bytecode each, until it is optimized. */
const WORK = `
const step = (n) => "y = (y * 31 + " + n + ") | 0; y ^= y >>> 3;";
const parts = Array.from({ length: 40 }, (_, n) =>
  new Function("x", "let y = x;" + step(n).repeat(3) + "return y;"));
const names = parts.map((_, n) => "f" + n);
const calls = names.map((name) => "x = (x + " + name + "(x)) | 0;").join("");
const sum = new Function(...names, "return function sum(x) {" + calls + "return x; }")(...parts);
let x = 0;
for (let i = 0; i < 200_000; i++) x = sum(i ^ x);`;

/** What else the two programs do differs by a few calls. */
const MARGIN = 8;

/** How many calls V8 replaced by what they call, as it says itself. */
function inlined(script: string, ...options: string[]): number {
  const args = ["--trace-turbo-inlining", ...options, "--input-type=module", "--eval", script];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  assert.equal(stderr, "", "V8 knows the flag");
  return stdout.match(/^Inlining .*<SharedFunctionInfo>\} into/gm)?.length ?? 0;
}

test("a server lets V8 inline more calls than it does by itself", () => {
  const usual = inlined(WORK);
  const more = inlined(`${SET}\n${WORK}`);
  assert.ok(more > usual + MARGIN, `${more} calls instead of ${usual}`);
});

test("a limit that the operator has set holds", () => {
  const own = inlined(`${SET}\n${WORK}`, OWN);
  const more = inlined(`${SET}\n${WORK}`);
  assert.ok(more > own + MARGIN, `${own} calls instead of ${more}`);
});

test("a flag is given in either spelling", () => {
  const flag = "max-inlined-bytecode-size-cumulative";
  assert.ok(isGiven(flag, ["--max_inlined_bytecode_size_cumulative=2000"]));
  assert.ok(isGiven(flag, ["--no-warnings", "--max-inlined-bytecode-size-cumulative=2000"]));
  assert.ok(!isGiven(flag, ["--max-inlined-bytecode-size=500"]));
});

test("a small heap may grow to four times of what is in use, a large one as V8 decides", () => {
  assert.equal(growthPercent(20 * 2 ** 20), 300);
  assert.equal(growthPercent(128 * 2 ** 20 - 1), 300);
  assert.equal(growthPercent(128 * 2 ** 20), 0);
});
