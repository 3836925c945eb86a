// The engine alone, without a log, a broker or a socket, on one core.

import type { Bench } from "../figure.ts";
import { closedGateGroups } from "./closed-gate.ts";
import { fifoGroups } from "./fifo.ts";
import { memoryGroups } from "./memory.ts";
import { saturatedGateGroups } from "./saturated-gate.ts";
import { shockGroups } from "./shocks.ts";
import { stallGroups } from "./stall.ts";
import { throughputGroups } from "./throughput.ts";

export const engineBench: Bench = {
  name: "engine",
  groups: [
    ...throughputGroups,
    ...fifoGroups,
    ...saturatedGateGroups,
    ...closedGateGroups,
    ...memoryGroups,
    ...stallGroups,
    ...shockGroups,
  ],
};
