// The search service: what its limits promise under load, what a task costs, and large feeds.

import type { Bench } from "../figure.ts";
import { costGroups } from "./cost.ts";
import { feedGroups } from "./feeds.ts";
import { limitGroups } from "./limits.ts";
import { pagingGroups } from "./paging.ts";
import { saturatedGroups } from "./saturated.ts";

export const torznabBench: Bench = {
  name: "torznab",
  groups: [...limitGroups, ...saturatedGroups, ...pagingGroups, ...costGroups, ...feedGroups],
};
