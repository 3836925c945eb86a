import { IDLE_MS } from "../limits.ts";
import { COUNT, GATES, IN_LANE, STRAND_STATE, WAITS_TURN } from "../ring/node-fields.ts";
import type { GateLine } from "./gate-line.ts";
import type { LineCalls, LineWorld } from "./line-world.ts";

/** Permits that jobs with one gate may take before the first one with several. */
const START = -2;
/** A longer lead is not remembered: the jobs with several gates need not make up for all of it. */
const LEAD_MAX = 64;
/** Strands with several gates of one lane that are asked whether they can use a permit soon. */
const STRANDS_PER_LOOK = 4;

/**
 * A third of a gate's permits for the jobs with several gates, beside those of the same lane that
 * name this gate alone.
 *
 * A strand with several gates waits in the line of a place while the timed permits of its other
 * gate are there. Jobs of its own lane that need only those would take them all, at once where a
 * window or a bucket opens with several. So each lane has a balance at each gate where such a
 * strand waits: two permits for jobs with one gate, then one for a job with several. What the
 * latter is owed is left in the gate (`keepsBack`), and the lane's jobs with one gate stay out of
 * the line meanwhile (`GateLine.resting`); other lanes pass.
 *
 * They wait only if it helps: the permit would not be back within a second, and none of the
 * strand's other gates is shut for longer than the wait. And not for long: after twice the time in
 * which the gate lets one job pass, the debt is forgiven, and two more may go. Then the strand's
 * other gates do not allow it a third. Places are never left idle for this.
 */
export class Balances {
  readonly #w: LineWorld;
  readonly #lines: LineCalls;
  readonly #waiting = new Set<number>();

  constructor(world: LineWorld, lines: LineCalls) {
    this.#w = world;
    this.#lines = lines;
  }

  /** A strand with several gates waits from now on. */
  begin(strand: number, gates: readonly GateLine[]): void {
    if (this.#waiting.has(strand)) return;
    this.#waiting.add(strand);
    const lane = this.#w.lanes.get(strand, IN_LANE);
    for (const gate of gates) {
      gate.balances ??= new Map();
      const balance = gate.balances.get(lane);
      if (balance !== undefined) balance.strands.push(strand);
      else gate.balances.set(lane, { strands: [strand], lead: START, isSecondNext: false });
    }
  }

  /** The strand has no job left. */
  end(strand: number): void {
    if (!this.#waiting.delete(strand)) return;
    const lane = this.#w.lanes.get(strand, IN_LANE);
    for (const gate of this.#w.gates.set(this.#w.lanes.get(strand, GATES)).gates) {
      const balance = gate.balances!.get(lane)!;
      balance.strands.splice(balance.strands.indexOf(strand), 1);
      if (balance.strands.length === 0) gate.balances!.delete(lane);
      if (gate.balances!.size === 0) gate.balances = undefined;
      this.#back(gate, lane);
    }
  }

  /** A job with this gate alone has taken a permit. */
  tookOne(gate: GateLine, lane: number): void {
    const balance = gate.balances?.get(lane);
    if (balance === undefined) return;
    balance.lead = Math.min(balance.lead + 1, LEAD_MAX);
    balance.isSecondNext = true;
  }

  /** A job with several gates has taken a permit of each. */
  tookAll(strand: number, gates: readonly GateLine[]): void {
    if (!this.#waiting.has(strand)) return;
    const lane = this.#w.lanes.get(strand, IN_LANE);
    for (const gate of gates) {
      const balance = gate.balances!.get(lane)!;
      balance.lead = Math.max(balance.lead - 2, START);
      this.#back(gate, lane);
    }
  }

  /** The lane's jobs with this gate alone must wait: the permit is owed to one with several. */
  keepsBack(gate: GateLine, lane: number, cost: number, tier: number, now: number): boolean {
    const balance = gate.balances?.get(lane);
    if (balance === undefined || balance.lead < 0 || gate.stock !== undefined) return false;
    if (gate.config?.concurrency !== undefined || gate.permits(now) >= gate.wanted) return false;
    const waitMs = waitMsMax(gate, tier);
    let jobs = 0;
    for (const strand of balance.strands.slice(0, STRANDS_PER_LOOK)) {
      if (this.#canGo(strand, gate, now, now + waitMs)) jobs += this.#w.lanes.get(strand, COUNT);
    }
    const owed = Math.min(jobs, (balance.lead + 2) >> 1) * cost;
    if (owed === 0) return false;
    return !gate.passesBeside(cost, owed, tier, now + IDLE_MS, now, false);
  }

  /** Whether a strand waits elsewhere, and none of its other gates is shut beyond a time. */
  #canGo(strand: number, gate: GateLine, now: number, until: number): boolean {
    if (this.#w.lanes.get(strand, STRAND_STATE) < WAITS_TURN) return false;
    if (!this.#lines.queueOf(strand).canWork()) return false;
    const cost = this.#lines.costOf(strand);
    const tier = this.#lines.tierOf(strand);
    const { gates } = this.#w.gates.set(this.#w.lanes.get(strand, GATES));
    return gates.every((other) => other === gate || other.timedAt(cost, tier, now) <= until);
  }

  /** The lane's seat stays out of the line for a while. */
  rest(gate: GateLine, seat: number, now: number): void {
    gate.resting ??= new Map();
    gate.restingUnder = gate.config;
    gate.resting.set(seat, now + waitMsMax(gate, this.#lines.tierOf(seat)));
    this.#w.rings.deactivate(seat);
  }

  /** Ends what has lasted too long, or began under other limits; the lane owes nothing any more. */
  forgive(gate: GateLine, now: number): void {
    const isOver = gate.config !== gate.restingUnder;
    for (const [seat, until] of gate.resting!) {
      if (!isOver && until > now) return;
      const lane = this.#w.lanes.get(seat, IN_LANE);
      const balance = gate.balances?.get(lane);
      if (balance !== undefined) balance.lead = START;
      this.#back(gate, lane);
    }
  }

  #back(gate: GateLine, lane: number): void {
    if (gate.resting === undefined || gate.solo === undefined) return;
    const seat = this.#w.lanes.findStrand(lane, gate.solo.id);
    if (!gate.resting.delete(seat)) return;
    this.#w.rings.activate(seat);
    this.#lines.look(gate);
  }
}

/** Twice the time in which the gate lets one job pass. */
function waitMsMax(gate: GateLine, tier: number): number {
  let ms = gate.spacing(tier);
  const rate = gate.config?.rate;
  if (rate !== undefined && rate > 0) ms = Math.max(ms, 1000 / rate);
  for (const { limit, perMs } of gate.config?.windows ?? []) ms = Math.max(ms, perMs / limit);
  return Math.ceil(2 * ms);
}
