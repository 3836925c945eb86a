import type { GateLine } from "../gates/gate-line.ts";
import type { Want } from "./ledger.ts";

/** A lot is gathered for so long at most: the gate's other lanes wait meanwhile. */
const GATHER_MS = 50;

/** A lot that a gate can lend at a time. */
interface PossibleLot {
  readonly cost: number;
  readonly jobs: number;
  /** When; Infinity: when something is given back. */
  readonly at: number;
}

/**
 * What a borrower gets whose turn it is: its part of what is free, or a little more when that comes
 * soon, so that a gate at its limit does not need a message for every permit.
 */
export function lotFor(gate: GateLine, want: Want, parties: number, now: number): PossibleLot {
  const { least, tier } = want;
  const at = gate.opensAt(least, tier, now);
  if (at > now) return { cost: least, jobs: 1, at };
  // If a borrower asks for a permit where there are no limits, it does not know yet that they are
  // gone, or it knows new limits before their home does. It gets one job at a time, so that little
  // is out uncounted.
  const isSingle = gate.spacings !== undefined || gate.config === undefined;
  if (isSingle) return { cost: least, jobs: 1, at: now };
  const places = gate.places - gate.placesTaken;
  const jobs = Math.min(want.jobs, Math.max(1, Math.floor(places / parties)));
  const windowed = freeInWindows(gate, now);
  const free = Math.min(windowed, gate.tokens(now) ?? Number.POSITIVE_INFINITY);
  const part = free === Number.POSITIVE_INFINITY ? want.cost : Math.floor(free / parties);
  // A job that costs more than the limits has them all to itself.
  const most = Math.max(least, Math.min(want.cost, windowed, reach(gate, now)));
  const cost = Math.min(most, Math.max(least, part, gathered(gate)));
  return { cost, jobs, at: gate.bucket === undefined ? now : gate.bucket.opensAt(cost, now) };
}

function freeInWindows(gate: GateLine, now: number): number {
  let free = Number.POSITIVE_INFINITY;
  for (const { limit, used } of gate.windowUse(now)) free = Math.min(free, limit - used);
  return free;
}

/** Tokens that can be there within the time of gathering. */
function reach(gate: GateLine, now: number): number {
  const tokens = gate.tokens(now);
  if (tokens === undefined) return Number.POSITIVE_INFINITY;
  return Math.floor(Math.min(tokens + soon(gate), gate.bucket!.burst / 1000));
}

/** What a gate at its limit gathers: half of the burst at most, for the rest to go on filling. */
function gathered(gate: GateLine): number {
  return gate.bucket === undefined ? 0 : Math.floor(Math.min(soon(gate), gate.bucket.size / 2000));
}

function soon({ config }: GateLine): number {
  return ((config?.rate ?? 0) * GATHER_MS) / 1000;
}
