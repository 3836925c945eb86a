// What a restart and a long life cost: time, memory and disk.

import type { Bench } from "../figure.ts";
import { steadyGroups } from "./steady.ts";
import { waitingGroups } from "./waiting.ts";

export const recoveryBench: Bench = {
  name: "recovery",
  groups: [...waitingGroups, ...steadyGroups],
};
