import type { Schema } from "../kinds.ts";
import { SCHEDULE_SCHEMA } from "../options/schedule-options.ts";
import type { ScheduleInfo, ScheduleRunEnd, ScheduleRunNow, ScheduleTick } from "../schedule.ts";
import { about, COUNT, choice, FLAG, list, maybe, NAME, shape, TEXT, TIME } from "./schema.ts";

export const SCHEDULE: Schema = shape<ScheduleInfo>({
  name: NAME,
  queue: NAME,
  config: SCHEDULE_SCHEMA,
  paused: FLAG,
  pausedBy: maybe(choice(["call", "failure"])),
  next: about("The next ticks, without their jitter.", list(TIME)),
  running: about("Jobs of it that have not ended.", COUNT),
  added: about("Jobs that its ticks have added.", COUNT),
  lastTick: maybe(
    shape<ScheduleTick>({
      tick: TIME,
      at: TIME,
      outcome: about("`added`, `held`, or why it was skipped.", TEXT),
      id: maybe(TEXT),
      error: maybe(TEXT),
    }),
  ),
  lastRun: maybe(shape<ScheduleRunEnd>({ id: TEXT, state: TEXT, at: TIME, error: maybe(TEXT) })),
});

export const RUN_NOW: Schema = shape<ScheduleRunNow>({ id: TEXT });
