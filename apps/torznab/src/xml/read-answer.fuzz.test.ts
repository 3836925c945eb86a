import assert from "node:assert/strict";
import { test } from "node:test";
import { capsAnswer, errorAnswer, feedAnswer } from "../testing/dialects.ts";
import { sampleItems } from "../testing/indexer-server.ts";
import { readAnswer } from "./read-answer.ts";
import { XmlRefused } from "./refused.ts";

const INPUTS = Number(process.env.FUZZ_INPUTS ?? 20_000);
const INPUT_MS_MAX = 50;

const SEEDS = [
  ...(["jackett", "prowlarr", "newznab"] as const).flatMap((dialect) => [
    capsAnswer(dialect).body,
    feedAnswer(dialect, sampleItems("a", 2), "http://x").body,
  ]),
  errorAnswer(100, "no").body,
  "<rss><channel><item><title><![CDATA[a<b>]]></title><guid>&#x41;&amp;&lt;</guid></item></channel></rss>",
].map((body) => Buffer.from(body as string));

const PIECES = [
  ..."<>&'\"/=!?[]- \0\u0001\ufeff",
  "<!DOCTYPE x>",
  "<![CDATA[",
  "]]>",
  "<!--",
  "-->",
  "<?xml version='1.0' encoding='utf-16'?>",
  "&#xffffffff;",
  "&#0;",
  "&bomb;",
  "&#55296;",
  "__proto__",
  "<constructor>",
  " __proto__='x'",
  "<a>".repeat(40),
  "<item>",
  "</item>",
  "\xff\xfe",
].map((piece) => Buffer.from(piece, "latin1"));

// A small generator of its own, so that a seed replays.
function random(seed: number): (below: number) => number {
  let state = seed * 2654435761 + 1;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

function mutated(seed: number): Uint8Array {
  const pick = random(seed);
  let bytes = Buffer.from(SEEDS[pick(SEEDS.length)]!);
  for (let change = pick(6) + 1; change > 0; change--) {
    const at = pick(bytes.length + 1);
    const length = pick(20);
    const piece = [PIECES[pick(PIECES.length)]!, Buffer.of(pick(256)), Buffer.alloc(0)][pick(3)]!;
    const copied = bytes.subarray(pick(bytes.length + 1)).subarray(0, pick(200));
    const put = pick(4) === 0 ? copied : piece;
    bytes = Buffer.concat([bytes.subarray(0, at), put, bytes.subarray(at + length)]);
  }
  return pick(10) === 0 ? bytes.subarray(0, pick(bytes.length + 1)) : bytes;
}

test(`${INPUTS} damaged documents are read or refused, each within ${INPUT_MS_MAX} ms`, (t) => {
  let read = 0;
  let slowestMs = 0;
  const before = Object.getOwnPropertyNames(Object.prototype).length;
  for (let seed = 0; seed < INPUTS; seed++) {
    const startedAt = process.cpuUsage();
    try {
      readAnswer({ bytes: mutated(seed), contentType: undefined, base: "http://x/api" });
      read++;
    } catch (error) {
      assert.ok(error instanceof XmlRefused, `seed ${seed}: ${(error as Error).stack}`);
    }
    const { user, system } = process.cpuUsage(startedAt);
    slowestMs = Math.max(slowestMs, (user + system) / 1_000);
  }
  assert.equal(Object.getOwnPropertyNames(Object.prototype).length, before);
  assert.ok(read > INPUTS / 100, `only ${read} could be read`);
  t.diagnostic(`${read} read, the rest refused; the slowest took ${slowestMs.toFixed(1)} ms`);
  assert.ok(slowestMs < 4 * INPUT_MS_MAX, `${slowestMs} ms`);
});
