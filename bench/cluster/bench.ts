// Several nodes on NATS: what a job costs there beside plain JetStream, what forwarding costs, and
// how exact a gate is that nodes share.

import type { Bench } from "../figure.ts";
import { beatsGroups } from "./beats.ts";
import { forwardingGroups } from "./forwarding.ts";
import { gateGroups } from "./gate.ts";
import { idleGroups } from "./idle.ts";
import { lifecycleGroups } from "./lifecycle.ts";
import { spreadGroups } from "./spread.ts";
import { takeoverGroups } from "./takeover.ts";

export const clusterBench: Bench = {
  name: "cluster",
  groups: [
    ...lifecycleGroups,
    ...spreadGroups,
    ...forwardingGroups,
    ...gateGroups,
    ...idleGroups,
    ...beatsGroups,
    ...takeoverGroups,
  ],
};
