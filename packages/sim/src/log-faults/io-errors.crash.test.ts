import { test } from "node:test";
import * as module from "@sluice/log";
import { failOnce } from "./io-errors.ts";

// The soak sets more.
const RUNS = Number(process.env.IO_ERROR_RUNS ?? 100);

test(`the log stops for good at each of ${RUNS} errors of the disk and loses nothing`, async () => {
  for (let seed = 1; seed <= RUNS; seed++) await failOnce(module, seed);
});
