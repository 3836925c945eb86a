import type { BrokerStats } from "../stats.ts";
import { call } from "./call.ts";
import { FLAG, LIST } from "./kinds.ts";
import type { StatsOptions } from "./options.ts";

export const BROKER_CALLS = {
  stats: call<[], BrokerStats, StatsOptions>({
    says: "Measures the broker, and the queues and gates that are named.",
    about: "broker",
    args: [],
    options: { queues: LIST, gates: LIST, oldest: FLAG },
    may: "key",
    repeat: "read",
    http: { route: "GET /v1/stats", isOwn: true },
  }),
};
