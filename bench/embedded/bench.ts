// The whole library in one process, as its users run it: `Sluice.open`, a queue, a worker.

import type { Bench } from "../figure.ts";
import { fifoGroups } from "./fifo.ts";
import { oneAtATimeGroups } from "./one-at-a-time.ts";
import { peerGroups } from "./peer.ts";
import { throughputGroups } from "./throughput.ts";

export const embeddedBench: Bench = {
  name: "embedded",
  groups: [...throughputGroups, ...oneAtATimeGroups, ...fifoGroups, ...peerGroups],
};
