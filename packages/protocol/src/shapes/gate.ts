import type { GatesPage } from "../calls/options.ts";
import type { GateConfig, GateInfo } from "../gate.ts";
import type { Schema } from "../kinds.ts";
import {
  about,
  COUNT,
  choice,
  list,
  MISSING,
  MS,
  maybe,
  NUMBER,
  shape,
  TEXT,
  TIME,
} from "./schema.ts";

type Windows = NonNullable<GateConfig["windows"]>;

export const GATE_CONFIG: Schema = shape<GateConfig>({
  rate: maybe({ type: "number", minimum: 0, description: "A second; 0 closes the gate." }),
  burst: maybe(NUMBER),
  interval: maybe(
    shape<NonNullable<GateConfig["interval"]>>({
      ms: MS,
      from: maybe(choice(["start", "end"])),
      factors: maybe(list(NUMBER)),
      floorMs: maybe(MS),
    }),
  ),
  windows: maybe(list(shape<Windows[number]>({ limit: COUNT, perMs: MS }))),
  concurrency: maybe(COUNT),
  ladder: maybe(list(MS)),
});

export const GATE: Schema = shape<GateInfo>({
  key: TEXT,
  config: maybe(GATE_CONFIG),
  pattern: maybe(about("The pattern that gave it its limits.", TEXT)),
  tokens: maybe(NUMBER),
  windows: list(shape<GateInfo["windows"][number]>({ limit: COUNT, perMs: MS, used: COUNT })),
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
