import { clusterBench } from "./cluster/bench.ts";
import { embeddedBench } from "./embedded/bench.ts";
import { engineBench } from "./engine/bench.ts";
import type { Bench } from "./figure.ts";
import { flowsBench } from "./flows/bench.ts";
import { jobsBench } from "./jobs/bench.ts";
import { jobserverBench } from "./jobserver/bench.ts";
import { natsBench } from "./nats/bench.ts";
import { peersBench } from "./peers/bench.ts";
import { postgresBench } from "./postgres/bench.ts";
import { profileBench } from "./profile/bench.ts";
import { recoveryBench } from "./recovery/bench.ts";
import { scaleBench } from "./scale/bench.ts";
import { streamBench } from "./stream/bench.ts";
import { torznabBench } from "./torznab/bench.ts";
import { trackerBench } from "./tracker/bench.ts";

export const BENCHES: readonly Bench[] = [
  engineBench,
  embeddedBench,
  recoveryBench,
  natsBench,
  postgresBench,
  clusterBench,
  flowsBench,
  jobsBench,
  scaleBench,
  streamBench,
  jobserverBench,
  torznabBench,
  trackerBench,
  peersBench,
  profileBench,
];
