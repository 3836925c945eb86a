// Jobs in transactions of PostgreSQL and a log in PostgreSQL, beside two queues that live in it.

import type { Bench } from "../figure.ts";
import { addsGroup } from "./adds.ts";
import { latencyGroup, lifeGroup } from "./life.ts";
import { relayGroup } from "./relay.ts";

export const postgresBench: Bench = {
  name: "postgres",
  groups: [addsGroup, lifeGroup, latencyGroup, relayGroup],
};
