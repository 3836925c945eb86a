import { embeddedBench } from "./embedded/bench.ts";
import { engineBench } from "./engine/bench.ts";
import type { Bench } from "./figure.ts";
import { recoveryBench } from "./recovery/bench.ts";
import { trackerBench } from "./tracker/bench.ts";

export const BENCHES: readonly Bench[] = [engineBench, embeddedBench, recoveryBench, trackerBench];
