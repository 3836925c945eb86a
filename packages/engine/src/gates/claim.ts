import { IDLE_MS } from "../limits.ts";
import {
  ATTACHED,
  ATTACHED_NEXT,
  ATTACHED_PREV,
  CLAIM_OFFERED,
  GATES,
  HEAD,
  IN_LANE,
  READY,
  RESTING,
  SEAT,
  STRAND_STATE,
  TURNS,
  WAITS_TURN,
} from "../ring/node-fields.ts";
import { Balances } from "./balance.ts";
import type { Claim, GateLine, GateSet } from "./gate-line.ts";
import { KeptPermits } from "./kept-permits.ts";
import type { LineCalls, LineWorld } from "./line-world.ts";

/**
 * Strands whose jobs name several gates: all permits or none, and a bounded wait.
 *
 * State by state:
 *   RESTING, READY as for strands with one gate.
 *   WAITS_TURN     attached to the lane's seat in the line of one gate that kept it. When the seat
 *                  is first and the gate passes, the strand has had its turn there: the seat is
 *                  charged, no permit is taken, and the strand proceeds to the next gate. Gates
 *                  with places come first. The timed permit of the last turn is then free at the
 *                  moment at which the strand claims it.
 *   CLAIMS         it has had its turn at every gate that keeps it, and claims a permit of each.
 *                  Which permits are kept for it, and for how long, is described in
 *                  kept-permits.ts.
 *   CLAIM_OFFERED  a claim all of whose gates pass; in its lane's heap.
 *
 * A claim is dropped, and the strand starts again with its turns, when a gate is cooled down for
 * more than a second or shut for good, and when its places have passed it by.
 */
export class Claims {
  readonly #w: LineWorld;
  readonly #lines: LineCalls;
  readonly kept: KeptPermits;
  readonly balances: Balances;

  constructor(world: LineWorld, lines: LineCalls) {
    this.#w = world;
    this.#lines = lines;
    this.balances = new Balances(world, lines);
    this.kept = new KeptPermits(world, lines, (claim, now) => {
      this.kept.remove(claim, now);
      this.settleStrand(claim.strand, this.#setOf(claim.strand), now);
    });
  }

  /**
   * A gate keeps a strand: it is shut, or others wait there and the strand has not had its turn.
   */
  #keeps(gate: GateLine, hadTurn: boolean, strand: number, now: number): boolean {
    if (isOpen(gate, now)) return false;
    const cost = this.#lines.costOf(strand);
    const tier = this.#lines.tierOf(strand);
    if (!gate.passes(cost, tier, now)) return true;
    if (!hadTurn) return gate.inLine > 0 || gate.claims.length > 0 || gate.isWanted;
    return this.kept.isBehind(gate, tier) || !this.kept.leavesRoom(gate, cost, tier, now);
  }

  settleStrand(strand: number, set: GateSet, now: number): void {
    const turns = this.#w.lanes.get(strand, TURNS);
    let isKept = false;
    let next: GateLine | undefined;
    let isNextPlace = false;
    for (let i = 0; i < set.gates.length; i++) {
      const gate = set.gates[i]!;
      const hadTurn = ((turns >>> i) & 1) === 1;
      if (!this.#keeps(gate, hadTurn, strand, now)) continue;
      isKept = true;
      if (hadTurn) continue;
      const isPlace = gate.config?.concurrency !== undefined;
      if (next === undefined || (isPlace && !isNextPlace)) next = gate;
      isNextPlace ||= isPlace;
    }
    if (isKept) this.balances.begin(strand, set.gates);
    // After a turn the permits are kept for it even if all are there. Otherwise an older job of its
    // lane would take them.
    if (next !== undefined) this.#attach(strand, next);
    else if (isKept || turns !== 0) this.kept.add(strand, set.gates, now);
    else this.#lines.ready(strand);
  }

  #attach(strand: number, gate: GateLine): void {
    const lanes = this.#w.lanes;
    const seat = this.#w.strandOf(lanes.get(strand, IN_LANE), this.#w.gates.soloOf(gate));
    lanes.use(seat);
    lanes.set(strand, STRAND_STATE, WAITS_TURN);
    lanes.set(strand, SEAT, seat);
    let last = lanes.get(seat, ATTACHED);
    if (last === 0) lanes.set(seat, ATTACHED, strand);
    else {
      // The list is circular through ATTACHED_PREV of its first, so that its end is found at once.
      last = lanes.get(last, ATTACHED_PREV);
      lanes.set(last, ATTACHED_NEXT, strand);
    }
    lanes.set(strand, ATTACHED_PREV, last === 0 ? strand : last);
    lanes.set(lanes.get(seat, ATTACHED), ATTACHED_PREV, strand);
    lanes.set(strand, ATTACHED_NEXT, 0);
    this.#lines.join(seat, gate);
    if (lanes.get(seat, ATTACHED) === strand) this.#lines.look(gate);
  }

  #detach(strand: number, gate: GateLine): void {
    const lanes = this.#w.lanes;
    const seat = lanes.get(strand, SEAT);
    const first = lanes.get(seat, ATTACHED);
    const next = lanes.get(strand, ATTACHED_NEXT);
    const prev = lanes.get(strand, ATTACHED_PREV);
    if (strand === first) {
      lanes.set(seat, ATTACHED, next);
      if (next !== 0) lanes.set(next, ATTACHED_PREV, prev);
    } else {
      lanes.set(prev, ATTACHED_NEXT, next);
      lanes.set(next === 0 ? first : next, ATTACHED_PREV, prev);
    }
    lanes.set(strand, ATTACHED_NEXT, 0);
    lanes.set(strand, ATTACHED_PREV, 0);
    lanes.set(strand, SEAT, 0);
    lanes.set(strand, STRAND_STATE, RESTING);
    this.#lines.leave(seat, gate);
    lanes.unuse(seat);
  }

  /** The strand's turn at this gate has come. */
  turn(strand: number, gate: GateLine, now: number): void {
    const set = this.#setOf(strand);
    const lanes = this.#w.lanes;
    lanes.set(strand, TURNS, lanes.get(strand, TURNS) | (1 << set.gates.indexOf(gate)));
    const balance = gate.balances?.get(lanes.get(strand, IN_LANE));
    if (balance !== undefined) balance.isSecondNext = false;
    this.#w.rings.charge(lanes.get(strand, SEAT), this.#lines.costOf(strand));
    this.#detach(strand, gate);
    this.settleStrand(strand, set, now);
  }

  #setOf(strand: number): GateSet {
    return this.#w.gates.set(this.#w.lanes.get(strand, GATES));
  }

  #claimOf(strand: number): Claim {
    return this.#setOf(strand).gates[0]!.claims.find((claim) => claim.strand === strand)!;
  }

  admit(strand: number, set: GateSet, now: number): boolean {
    const lanes = this.#w.lanes;
    const cost = this.#lines.costOf(strand);
    const tier = this.#lines.tierOf(strand);
    if (lanes.get(strand, STRAND_STATE) === READY) {
      const turns = lanes.get(strand, TURNS);
      const isKept = set.gates.some((gate, i) =>
        this.#keeps(gate, ((turns >>> i) & 1) === 1, strand, now),
      );
      if (isKept) {
        lanes.set(strand, STRAND_STATE, RESTING);
        lanes.unready(strand);
        this.settleStrand(strand, set, now);
        return false;
      }
    } else if (!set.gates.every((gate) => gate.passes(cost, tier, now))) {
      this.kept.again(this.#claimOf(strand));
      return false;
    }
    for (const gate of set.gates) {
      gate.take(cost, tier, now);
      gate.decisions.passed++;
      gate.idleLeftMs = IDLE_MS;
      this.#lines.changed(gate);
    }
    this.balances.tookAll(strand, set.gates);
    return true;
  }

  headChanged(strand: number, now: number): void {
    const lanes = this.#w.lanes;
    const state = lanes.get(strand, STRAND_STATE);
    if (state === WAITS_TURN) {
      const gate = this.#w.gates.set(lanes.get(lanes.get(strand, SEAT), GATES)).gates[0]!;
      this.#lines.look(gate);
      if (lanes.get(strand, HEAD) === 0) {
        this.#detach(strand, gate);
        lanes.set(strand, TURNS, 0);
        this.balances.end(strand);
      }
      return;
    }
    const claim = this.#claimOf(strand);
    if (lanes.get(strand, HEAD) !== 0) return this.kept.again(claim);
    this.kept.remove(claim, now);
    this.balances.end(strand);
  }

  /** A claim was dispatched: the next job of its strand starts from the beginning. */
  dispatched(strand: number, now: number): void {
    const lanes = this.#w.lanes;
    if (lanes.get(strand, STRAND_STATE) === CLAIM_OFFERED)
      this.kept.remove(this.#claimOf(strand), now);
    else {
      lanes.set(strand, TURNS, 0);
      lanes.set(strand, STRAND_STATE, RESTING);
      lanes.unready(strand);
    }
    if (lanes.get(strand, HEAD) === 0) this.balances.end(strand);
    else this.settleStrand(strand, this.#setOf(strand), now);
  }
}

/** A gate without limits: no job has to wait there, or to keep anything for others. */
function isOpen(gate: GateLine, now: number): boolean {
  return gate.config === undefined && gate.cooldownUntil <= now;
}
