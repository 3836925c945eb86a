import assert from "node:assert/strict";
import { test } from "node:test";
import { SluiceError } from "@sluice/protocol";
import { BodyShape, sliceBody } from "./parse-body.ts";
import { RawJson } from "./raw-json.ts";

const INPUTS = Number(process.env.FUZZ_INPUTS ?? 20_000);
const SHAPE = new BodyShape({ items: "jobs", raw: ["payload"] });

/** mulberry32. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

const NAMES = ["payload", "jobs", "a", "", "é", "p\\u0061yload", "toString"];
const LEAVES = ["1", "-0", "0.5", "1e9", "1E-2", "true", "false", "null", '""', '"é\\n\\u00e9"'];
const SPACES = ["", "", "", " ", "\n\t", "\r"];
const ODD = ["{", "}", "[", "]", ",", ":", '"', "\\", "0", "-", ".", "e", "u", "\u0001", "é", "t"];

function textOf(next: (below: number) => number, depth: number): string {
  const space = SPACES[next(SPACES.length)]!;
  const kind = depth === 0 ? 0 : next(4);
  if (kind < 2) return `${space}${LEAVES[next(LEAVES.length)]}${space}`;
  const parts = Array.from({ length: next(4) }, () => textOf(next, depth - 1));
  if (kind === 2) return `${space}[${parts.join(",")}${parts.length === 0 ? space : ""}]`;
  const members = parts.map((part) => `${space}"${NAMES[next(NAMES.length)]}"${space}:${part}`);
  return `{${members.join(",")}}${space}`;
}

/** Valid JSON, and now and then a text that is nearly so. */
function inputOf(seed: number): string {
  const next = random(seed);
  let text = textOf(next, 5);
  for (let i = next(3); i > 0 && seed % 2 === 0; i--) {
    const at = next(text.length + 1);
    text = text.slice(0, at) + ODD[next(ODD.length)] + text.slice(at + next(2));
  }
  return text;
}

function parsed(text: string): unknown {
  const slices = sliceBody(Buffer.from(text), SHAPE);
  for (;;) {
    const { done, value } = slices.next();
    if (done === true) return unfold(value);
  }
}

/** With payloads parsed, where JSON.parse would have them. */
function unfold(value: unknown): unknown {
  if (value instanceof RawJson) return JSON.parse(Buffer.from(value.bytes).toString());
  if (Array.isArray(value)) return value.map(unfold);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, unfold(one)]));
}

test("whatever bytes come, the body is what JSON.parse makes of them, or both refuse", () => {
  let refused = 0;
  for (let seed = 1; seed <= INPUTS; seed++) {
    const text = inputOf(seed);
    let wanted: unknown;
    let isValid = true;
    try {
      wanted = JSON.parse(text);
    } catch {
      isValid = false;
    }
    try {
      assert.deepEqual(parsed(text), wanted, `seed ${seed}: ${text}`);
      assert.ok(isValid, `seed ${seed} was taken: ${text}`);
    } catch (error) {
      if (!(error instanceof SluiceError)) throw error;
      assert.ok(!isValid, `seed ${seed} was refused: ${text} ${error.message}`);
      refused++;
    }
  }
  assert.ok(refused > INPUTS / 20 && refused < INPUTS / 2, `${refused} refused`);
});
