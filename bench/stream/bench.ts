// The broker on the network: producer, server and consumer in processes of their own.

import type { Bench } from "../figure.ts";
import { costGroups } from "../policy/cost.ts";
import { bodyGroups } from "./bodies.ts";
import { httpGroups } from "./http.ts";
import { throughputGroups } from "./throughput.ts";

export const streamBench: Bench = {
  name: "stream",
  groups: [...throughputGroups, ...httpGroups, ...bodyGroups, ...costGroups],
};
