import { test } from "node:test";
import * as module from "@sluice/log";
import { raceForLock } from "./lock-race.ts";

const RACES = 60;

test(`in ${RACES} races for a lock no two processes have the log at once`, async () => {
  for (let seed = 1; seed <= RACES; seed++) await raceForLock(module, seed);
});
