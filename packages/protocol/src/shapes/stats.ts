import type { Schema } from "../kinds.ts";
import type {
  BrokerStats,
  GateDecisions,
  QueueTimes,
  ScheduleStats,
  ScriptStats,
  TimeCounts,
} from "../stats.ts";
import { about, COUNT, FLAG, list, MISSING, MS, maybe, shape, TEXT, TIME } from "./schema.ts";

const TIMES: Schema = shape<TimeCounts>({
  counts: list(COUNT, { description: "How many took up to 2^i ms; the last has no end." }),
  sum: MS,
});

const SCRIPT: Schema = shape<ScriptStats>({
  runs: COUNT,
  failures: shape<ScriptStats["failures"]>({ error: COUNT, killed: COUNT, timeout: COUNT }),
  times: TIMES,
  isOpen: about("It is not asked at present.", FLAG),
});

const QUEUE_TIMES: Schema = shape<QueueTimes>({
  name: TEXT,
  wait: TIMES,
  run: TIMES,
  oldest: maybe(shape<NonNullable<QueueTimes["oldest"]>>({ id: TEXT, addedAt: TIME })),
  nextDueAt: maybe(TIME),
  script: maybe(SCRIPT),
});

const DECISIONS: Schema = shape<GateDecisions>({
  key: TEXT,
  passed: about("Jobs that passed.", COUNT),
  kept: about("How often the first in line had to wait, by the limit that was reached.", {
    type: "object",
    additionalProperties: COUNT,
  }),
});

const SCHEDULES: Schema = shape<ScheduleStats>({
  count: COUNT,
  ticks: about("Ticks by what became of them.", { type: "object", additionalProperties: COUNT }),
});

export const STATS: Schema = shape<BrokerStats>({
  payloadBytes: COUNT,
  liveBytes: COUNT,
  logBytes: COUNT,
  unsyncedBytes: COUNT,
  unsyncedFor: MS,
  overdueBy: MS,
  adds: TIMES,
  queues: list(QUEUE_TIMES),
  gates: list(DECISIONS),
  schedules: SCHEDULES,
  missing: maybe(MISSING),
});
