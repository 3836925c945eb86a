// The rule on lanes behind a gate must see what is unfair, and nothing else.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Broken } from "../demand.ts";
import type { ModelJob } from "./job.ts";
import { Share } from "./share.ts";

const job = (lane: string, weight: number) =>
  ({ queue: "q", tier: 0, lane, weight }) as unknown as ModelJob;
const light = job("light", 1);
const heavy = job("heavy", 2);
const returned = job("returned", 1);

// Every lane has ten jobs that wait.
function filled(...lanes: readonly ModelJob[]): Share {
  const share = new Share();
  for (const lane of lanes) for (let i = 0; i < 10; i++) share.entered(lane);
  return share;
}

function serve(share: Share, ...lanes: readonly ModelJob[]): void {
  for (const lane of lanes) share.served(lane, true);
}

test("lanes that form a line together are held to one turn, with what they got before it", () => {
  const share = filled(light, heavy);
  serve(share, light);
  share.observe(0);
  serve(share, heavy);
  share.observe(2);
  assert.throws(() => serve(share, light), Broken);
});

test("a lane outside the line of others waits for a worker, and starts when it joins", () => {
  const share = filled(light, heavy, returned);
  serve(share, light);
  share.observe(1);
  serve(share, heavy, returned);
  share.observe(3);
  serve(share, light);
});

test("lanes that join a line late are held to two turns from then on", () => {
  const share = filled(light, heavy, returned);
  serve(share, light);
  share.observe(1);
  share.observe(3);
  serve(share, heavy, returned, light, returned);
  assert.throws(() => serve(share, light, light), Broken);
});

test("lanes start again when their line dissolves, not while there has been none", () => {
  const share = filled(light, heavy);
  serve(share, light);
  share.observe(2);
  share.observe(0);
  serve(share, light, heavy);
  const without = filled(light, heavy);
  serve(without, light);
  without.observe(0);
  assert.throws(() => serve(without, light), Broken);
});
