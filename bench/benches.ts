import { engineBench } from "./engine/bench.ts";
import type { Bench } from "./figure.ts";

export const BENCHES: readonly Bench[] = [engineBench];
