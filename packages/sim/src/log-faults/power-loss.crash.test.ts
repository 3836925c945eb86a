import assert from "node:assert/strict";
import { test } from "node:test";
import * as module from "@sluice/log";
import { losePower } from "./power-loss.ts";

// The soak sets more.
const IMAGES = Number(process.env.POWER_LOSS_IMAGES ?? 500);

test(`the log opens after each of ${IMAGES} power losses with all that was confirmed`, async () => {
  let images = 0;
  for (let seed = 1; images < IMAGES; seed++) images += await losePower(module, seed);
  assert.ok(images >= IMAGES);
});
