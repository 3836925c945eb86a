import * as shapes from "../shapes/index.ts";
import type { BrokerStats } from "../stats.ts";
import { call } from "./call.ts";
import { FLAG, TEXTS, told } from "./kinds.ts";
import type { StatsOptions } from "./options.ts";

export const BROKER_CALLS = {
  stats: call<[], BrokerStats, StatsOptions>({
    says: "Measures the broker, and the queues and gates that are named.",
    about: "broker",
    args: [],
    options: {
      queues: told(TEXTS, "Queues whose times are answered."),
      gates: told(TEXTS, "Gates whose decisions are answered."),
      oldest: told(FLAG, "With the oldest and the next job of each queue: looks at every job."),
    },
    may: "key",
    repeat: "read",
    answer: shapes.STATS,
    http: "GET /v1/stats",
  }),
};
