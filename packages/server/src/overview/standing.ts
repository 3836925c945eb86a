/** Why a queue with something to do does not move: the reasons are described at `Standing`. */
import type {
  Broker,
  GateInfo,
  QueueInfo,
  QueueTimes,
  Standing,
  StandingGate,
  StandingReason,
} from "@sluice/protocol";
import { STANDING_GATES_MAX } from "../limits.ts";

/** What the last moments tell. */
export interface Motion {
  /** False: the server was started a moment ago. */
  isKnown: boolean;
  outRate: number;
  failureRate: number;
}

/** As far as the figures tell. */
export function guessStanding(
  { stats, config }: QueueInfo,
  isDeadLetters: boolean,
  motion: Motion,
): StandingReason | undefined {
  const { waiting, delayed, running, freeWorkers } = stats;
  if (stats.paused) return "paused";
  const isFailing = motion.failureRate > 0 && motion.outRate === 0;
  if (waiting === 0) {
    if (delayed + running > 0 && isFailing) return "failing";
    return delayed > 0 && running === 0 ? "delayed" : undefined;
  }
  if (isDeadLetters && running === 0 && freeWorkers === 0) return "dead-letters";
  const isStill = motion.outRate === 0;
  if (freeWorkers > 0) {
    if (running < config.capacity.running) return "gated";
    return isStill && motion.isKnown ? "capacity" : undefined;
  }
  if (isFailing) return "failing";
  // Workers that poll are not there between two polls, and take jobs all the same.
  if (running === 0) return isStill ? "no-workers" : undefined;
  return isStill && motion.isKnown ? "busy" : undefined;
}

export interface Asked {
  info: QueueInfo;
  reason: StandingReason | undefined;
  times: QueueTimes | undefined;
  motion: Motion;
  /** Whether all gates may be looked through, and not only those of the oldest job. */
  mayLook: boolean;
}

/** Asks for what the figures do not tell: which gates, until when. */
export async function explain(broker: Broker, asked: Asked): Promise<Standing | undefined> {
  const { reason, times, info, motion } = asked;
  if (reason === undefined) return undefined;
  const standing: Standing = { reason };
  if (reason === "capacity") standing.limit = info.config.capacity.running;
  if (reason === "delayed" && times?.nextDueAt !== undefined) standing.until = times.nextDueAt;
  if (reason !== "gated") return standing;
  const gated = await gatesOf(broker, asked);
  // Without the name of a gate it is no explanation: it may have opened a moment ago.
  if (gated === undefined) {
    return motion.failureRate > 0 && motion.outRate === 0 ? { reason: "failing" } : undefined;
  }
  return { reason, ...gated };
}

type Gated = Pick<Standing, "gates" | "gatesTotal">;

async function gatesOf(broker: Broker, asked: Asked): Promise<Gated | undefined> {
  const queue = asked.info.name;
  const first = await gateOfOldest(broker, asked.times?.oldest);
  if (!asked.mayLook) return first && { gates: [first] };
  const page = await broker
    .gates({ queue, sort: "waiting", limit: STANDING_GATES_MAX })
    .catch(() => undefined);
  const found = (page?.items ?? []).map((gate) => gateOfLine(gate, queue));
  const gates = found.map((gate) =>
    gate.gate === first?.gate ? { ...first, lanes: gate.lanes } : gate,
  );
  gates.sort((a, b) => b.lanes - a.lanes);
  if (gates.length === 0) return first && { gates: [first] };
  return { gates, gatesTotal: page?.total ?? gates.length };
}

/** What keeps the oldest job: exact, as it knows what the job costs and its tier. */
async function gateOfOldest(
  broker: Broker,
  oldest: QueueTimes["oldest"],
): Promise<StandingGate | undefined> {
  if (oldest === undefined) return undefined;
  // It may have gone out meanwhile.
  const why = await broker.why(oldest.id).catch(() => undefined);
  if (why?.state !== "waiting" || why.reason !== "gated") return undefined;
  const { gate, part, until } = why;
  const found: StandingGate = { gate, part, lanes: 1 };
  if (until !== undefined) found.until = until;
  if (part !== "cooldown") return found;
  const note = (await broker.gate(gate).catch(() => undefined))?.cooldown?.reason;
  return note === undefined || note === "" ? found : { ...found, note };
}

function gateOfLine(gate: GateInfo, queue: string): StandingGate {
  const { key, part, opensAt, cooldown, line } = gate;
  const own = line.filter((one) => one.queue === queue);
  const found: StandingGate = { gate: key, lanes: own.reduce((sum, one) => sum + one.lanes, 0) };
  if (part !== undefined) found.part = part;
  if (opensAt !== undefined) found.until = opensAt;
  if (part === "cooldown" && cooldown !== undefined && cooldown.reason !== "") {
    found.note = cooldown.reason;
  }
  return found;
}
