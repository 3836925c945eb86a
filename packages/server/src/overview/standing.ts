/**
 * Why a queue with something to do does not move, as data; a page puts it into words, as it knows
 * the reader's zone.
 *
 *   paused         an operator has stopped it
 *   dead-letters   it holds what failed elsewhere: nobody is meant to work on it
 *   no-workers     nobody takes jobs
 *   gated          workers are free and yet jobs wait: a gate keeps all of them
 *   busy           all workers have jobs, and none has ended since the last look
 */
import type { Broker, GatePart, QueueInfo, QueueTimes } from "@sluice/protocol";

export type StandingReason = "paused" | "dead-letters" | "no-workers" | "gated" | "busy";

export interface Standing {
  reason: StandingReason;
  gate?: string;
  part?: GatePart;
  /** When the gate opens; absent: when something is released. */
  until?: number;
  /** What the operator or a nack said of a cooldown. */
  note?: string;
}

/** As far as the figures tell; `moves`: whether jobs have ended lately. */
export function guessStanding(
  { stats }: QueueInfo,
  isDeadLetters: boolean,
  moves: boolean,
): StandingReason | undefined {
  if (stats.paused) return "paused";
  if (stats.waiting === 0) return undefined;
  if (isDeadLetters && stats.leased === 0 && stats.freeWorkers === 0) return "dead-letters";
  if (stats.freeWorkers > 0) return "gated";
  if (stats.leased === 0) return "no-workers";
  return moves ? undefined : "busy";
}

/** Asks for the gate that keeps the oldest job, where it is a gate. */
export async function explain(
  broker: Broker,
  reason: StandingReason | undefined,
  oldest: QueueTimes["oldest"],
): Promise<Standing | undefined> {
  if (reason !== "gated" || oldest === undefined) return reason && plain(reason);
  // It may have gone out meanwhile; then the next look tells more.
  const why = await broker.why(oldest.id).catch(() => undefined);
  if (why?.state !== "waiting" || why.reason !== "gated") return undefined;
  const { gate, part, until } = why;
  const standing: Standing = { reason, gate, part };
  if (until !== undefined) standing.until = until;
  if (part !== "cooldown") return standing;
  const note = (await broker.gate(gate).catch(() => undefined))?.cooldown?.reason;
  return note === undefined || note === "" ? standing : { ...standing, note };
}

/** A gate that nobody can name is no explanation. */
function plain(reason: StandingReason): Standing | undefined {
  return reason === "gated" ? undefined : { reason };
}
