import assert from "node:assert/strict";
import { test } from "node:test";
import { idOf } from "./job-ids.ts";
import { LeaseTokens, sipHash } from "./lease-tokens.ts";

const NUMBERS = [1, 35, 36, 2 ** 24 - 1, 2 ** 24, 2 ** 32 - 1, 2 ** 32, Number.MAX_SAFE_INTEGER];

function tokensOf(secret: number): LeaseTokens {
  const tokens = new LeaseTokens();
  tokens.use(new Uint8Array(16).fill(secret));
  return tokens;
}

const tokens = tokensOf(1);

test("a token names the job and the delivery", () => {
  for (const job of NUMBERS) {
    for (const lease of NUMBERS) {
      assert.deepEqual(tokens.parse(tokens.of(job, lease)), { job, lease });
    }
  }
});

test("a token is 11 characters longer than job and delivery, and always the same", () => {
  assert.match(tokens.of(16, 1), /^ag\.1\.[A-Za-z0-9_-]{10}$/);
  assert.equal(tokens.of(16, 1), tokens.of(16, 1));
  assert.equal(tokens.of(16, 1), tokensOf(1).of(16, 1));
});

test("jobs, deliveries and secrets each have seals of their own", () => {
  const seals = new Set<string>();
  for (const from of [tokens, tokensOf(2)]) {
    for (const job of NUMBERS) {
      for (const lease of NUMBERS) seals.add(from.of(job, lease).split(".")[2]!);
    }
  }
  assert.equal(seals.size, 2 * NUMBERS.length ** 2);
});

test("a token with another seal, or none, names a job that there is not", () => {
  const token = tokens.of(16, 1);
  const guesses = [tokensOf(2).of(16, 1), "ag.1", "ag.1.", `${token}A`, token.slice(0, -1)];
  for (let i = "ag.1.".length; i < token.length; i++) {
    const other = token[i] === "A" ? "B" : "A";
    guesses.push(token.slice(0, i) + other + token.slice(i + 1));
  }
  guesses.push(token.replace("ag.1", "ag.2"), token.replace("ag.1", "ah.1"), `${token}.1`);
  for (const guess of guesses) {
    assert.throws(() => tokens.parse(guess), {
      code: "JOB_NOT_FOUND",
      details: { field: "lease", value: guess },
    });
  }
});

test("a text without a job and a delivery is no token", () => {
  const beyond = `${idOf(2 ** 53)}.1`;
  const texts = [
    "",
    "a1",
    "a1.",
    ".1",
    "a1.0",
    "a1.01",
    "a1.A",
    "b1.1",
    "1.2.3.4",
    "a1..x",
    beyond,
  ];
  for (const token of [...texts, 5, null]) {
    assert.throws(() => tokens.parse(token), {
      code: "INVALID",
      details: { field: "lease", value: token },
    });
  }
});

/** The hashes that the authors publish: the key is 00 01 02 .. 0f, the message 00 01 02 .. */
const KEY = Int32Array.of(0x03020100, 0x07060504, 0x0b0a0908, 0x0f0e0d0c);
const PUBLISHED: ReadonlyMap<number, string> = new Map([
  [0, "726fdb47dd0e0e31"],
  [1, "74f839c593dc67fd"],
  [7, "ab0200f58b01d137"],
  [8, "93f5f5799a932462"],
  [15, "a129ca6149be45e5"],
  [16, "3f2acc7f57c29bdb"],
]);

for (const [length, expected] of PUBLISHED) {
  test(`a message of ${length} bytes has the hash that is published for it`, () => {
    const count = Math.floor(length / 8) + 1;
    const bytes = new Uint8Array(8 * count);
    for (let i = 0; i < length; i++) bytes[i] = i;
    bytes[8 * count - 1] = length;
    const hash = { low: 0, high: 0 };
    sipHash(KEY, new Int32Array(bytes.buffer), count, hash);
    const hex = [hash.high, hash.low].map((word) => (word >>> 0).toString(16).padStart(8, "0"));
    assert.equal(hex.join(""), expected);
  });
}
