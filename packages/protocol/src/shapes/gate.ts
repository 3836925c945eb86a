import type { GatesPage } from "../calls/options.ts";
import type { GateInfo } from "../gate.ts";
import type { Schema } from "../kinds.ts";
import { GATE_SCHEMA } from "../options/gate-options.ts";
import { about, COUNT, list, MISSING, MS, maybe, NUMBER, shape, TEXT, TIME } from "./schema.ts";

export const GATE: Schema = shape<GateInfo>({
  key: TEXT,
  config: maybe(GATE_SCHEMA),
  pattern: maybe(about("The pattern that gave it its limits.", TEXT)),
  tokens: maybe(NUMBER),
  windows: list(shape<GateInfo["windows"][number]>({ limit: COUNT, per: MS, used: COUNT })),
  inFlight: COUNT,
  ladderStep: COUNT,
  cooldown: maybe(shape<NonNullable<GateInfo["cooldown"]>>({ until: TIME, reason: TEXT })),
  opensAt: maybe(TIME),
  opensAtByTier: list({ ...TIME, type: ["number", "null"] }),
  part: maybe(about("Of its limits, the one that keeps a job of cost 1 now.", TEXT)),
  waitingLanes: COUNT,
  line: list(shape<GateInfo["line"][number]>({ queue: TEXT, tier: COUNT, lanes: COUNT })),
  missing: maybe(MISSING),
});

export const GATES: Schema = shape<GatesPage>({
  items: list(GATE),
  total: about("On all pages.", COUNT),
  cursor: maybe(TEXT),
  missing: maybe(MISSING),
});
