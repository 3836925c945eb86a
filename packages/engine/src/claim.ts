import type { GateLine, GateSet } from "./gates.ts";
import type { Lines, LineWorld } from "./line.ts";
import {
  ATTACHED,
  ATTACHED_NEXT,
  ATTACHED_PREV,
  CLAIM_OFFERED,
  CLAIMS,
  FLOW_STATE,
  GATES,
  HEAD,
  IN_LANE,
  READY,
  RESTING,
  SEAT,
  TURNS,
  WAITS_TURN,
} from "./nodes.ts";
import type { Queue } from "./queue.ts";

/**
 * A claim does not keep permits from others while one of its gates is shut for longer than this.
 */
const PATIENCE_MS = 1000;

/** A flow with several gates that has had its turn at each gate that kept it. */
export interface Claim {
  readonly flow: number;
  readonly gates: readonly GateLine[];
  readonly tier: number;
  readonly order: number;
  /** First in all its lines, in a queue that has a worker: permits are kept for it. */
  isActive: boolean;
  /** When all its gates can be open; Infinity while that depends on somebody's release. */
  at: number;
}

/**
 * Flows whose jobs name several gates: all permits or none, and a bounded wait.
 *
 * State by state:
 *   RESTING, READY as for flows with one gate.
 *   WAITS_TURN     attached to the lane's seat in the line of one gate that kept it. When the seat
 *                  is first and the gate passes, the flow has had its turn there: the seat is
 *                  charged, no permit is taken, and the flow goes on to the next gate.
 *   CLAIMS         it has had its turn at every gate that keeps it and stands in the claim lines of
 *                  all its gates, ordered by tier and age. The first in all of its lines is active;
 *                  others hold nothing, so no two claims can wait for each other.
 *   CLAIM_OFFERED  an active claim all of whose gates pass; in its lane's heap.
 *
 * While a claim is active, others pass a gate only if they leave it a permit for the time at which
 * all of the claim's gates can be open (`leavesRoom`). A claim is dropped, and starts anew, when a
 * gate is shut for long: nobody should wait for a provider that is down.
 */
export class Claims {
  readonly #w: LineWorld;
  readonly #lines: Lines;
  #order = 0;

  constructor(world: LineWorld, lines: Lines) {
    this.#w = world;
    this.#lines = lines;
  }

  /** A gate keeps a flow: it is shut, or others wait there and the flow has not had its turn. */
  #keeps(gate: GateLine, hadTurn: boolean, flow: number, now: number): boolean {
    if (isOpen(gate, now)) return false;
    const cost = this.#lines.costOf(flow);
    const tier = this.#lines.tierOf(flow);
    if (!gate.passes(cost, tier, now)) return true;
    if (!hadTurn) return gate.inLine > 0 || gate.claims.length > 0 || gate.isWanted;
    return this.#isBehind(gate, tier) || !this.leavesRoom(gate, cost, tier, now);
  }

  /** More urgent lanes stand in the gate's line. */
  #isBehind(gate: GateLine, tier: number): boolean {
    return gate.inLine > 0 && gate.topTier < tier;
  }

  settleFlow(flow: number, set: GateSet, now: number): void {
    const turns = this.#w.lanes.get(flow, TURNS);
    let isKept = false;
    for (let i = 0; i < set.gates.length; i++) {
      const hadTurn = ((turns >>> i) & 1) === 1;
      if (!this.#keeps(set.gates[i]!, hadTurn, flow, now)) continue;
      if (!hadTurn) return this.#attach(flow, set.gates[i]!);
      isKept = true;
    }
    if (isKept) this.#claim(flow, set);
    else this.#lines.ready(flow);
  }

  #attach(flow: number, gate: GateLine): void {
    const lanes = this.#w.lanes;
    const seat = this.flowOfSet(lanes.get(flow, IN_LANE), this.#w.gates.soloOf(gate));
    lanes.use(seat);
    lanes.set(flow, FLOW_STATE, WAITS_TURN);
    lanes.set(flow, SEAT, seat);
    let last = lanes.get(seat, ATTACHED);
    if (last === 0) lanes.set(seat, ATTACHED, flow);
    else {
      // The list is circular through ATTACHED_PREV of its first, so that its end is found at once.
      last = lanes.get(last, ATTACHED_PREV);
      lanes.set(last, ATTACHED_NEXT, flow);
    }
    lanes.set(flow, ATTACHED_PREV, last === 0 ? flow : last);
    lanes.set(lanes.get(seat, ATTACHED), ATTACHED_PREV, flow);
    lanes.set(flow, ATTACHED_NEXT, 0);
    this.#lines.join(seat, gate);
    if (lanes.get(seat, ATTACHED) === flow) this.#lines.look(gate);
  }

  /** The flow of a lane for a set; a new one uses the set. */
  flowOfSet(lane: number, set: GateSet): number {
    const flow = this.#w.lanes.flowOf(lane, set.id);
    if (this.#w.lanes.isNew) this.#w.gates.use(set);
    return flow;
  }

  #detach(flow: number, gate: GateLine): void {
    const lanes = this.#w.lanes;
    const seat = lanes.get(flow, SEAT);
    const first = lanes.get(seat, ATTACHED);
    const next = lanes.get(flow, ATTACHED_NEXT);
    const prev = lanes.get(flow, ATTACHED_PREV);
    if (flow === first) {
      lanes.set(seat, ATTACHED, next);
      if (next !== 0) lanes.set(next, ATTACHED_PREV, prev);
    } else {
      lanes.set(prev, ATTACHED_NEXT, next);
      lanes.set(next === 0 ? first : next, ATTACHED_PREV, prev);
    }
    lanes.set(flow, ATTACHED_NEXT, 0);
    lanes.set(flow, ATTACHED_PREV, 0);
    lanes.set(flow, SEAT, 0);
    lanes.set(flow, FLOW_STATE, RESTING);
    this.#lines.leave(seat, gate);
    lanes.unuse(seat);
  }

  /** The flow's turn at this gate has come. */
  turn(flow: number, gate: GateLine, now: number): void {
    const set = this.#setOf(flow);
    const lanes = this.#w.lanes;
    lanes.set(flow, TURNS, lanes.get(flow, TURNS) | (1 << set.gates.indexOf(gate)));
    this.#w.rings.charge(lanes.get(flow, SEAT), this.#lines.costOf(flow));
    this.#detach(flow, gate);
    this.settleFlow(flow, set, now);
  }

  #setOf(flow: number): GateSet {
    return this.#w.gates.set(this.#w.lanes.get(flow, GATES));
  }

  #claim(flow: number, set: GateSet): void {
    const claim: Claim = {
      flow,
      gates: set.gates,
      tier: this.#lines.tierOf(flow),
      order: this.#order++,
      isActive: false,
      at: Number.POSITIVE_INFINITY,
    };
    this.#w.lanes.set(flow, FLOW_STATE, CLAIMS);
    this.#lines.queueOf(flow).claims.add(claim);
    for (const gate of set.gates) {
      let at = gate.claims.length;
      while (at > 0 && gate.claims[at - 1]!.tier > claim.tier) at--;
      gate.claims.splice(at, 0, claim);
      this.#lines.look(gate);
    }
  }

  #claimOf(flow: number): Claim {
    return this.#setOf(flow).gates[0]!.claims.find((claim) => claim.flow === flow)!;
  }

  #remove(claim: Claim): void {
    this.#lines.queueOf(claim.flow).claims.delete(claim);
    for (const gate of claim.gates) {
      gate.claims.splice(gate.claims.indexOf(claim), 1);
      this.#lines.look(gate);
    }
    const lanes = this.#w.lanes;
    if (lanes.get(claim.flow, FLOW_STATE) === CLAIM_OFFERED) lanes.unready(claim.flow);
    lanes.set(claim.flow, FLOW_STATE, RESTING);
    lanes.set(claim.flow, TURNS, 0);
  }

  /** The claim that may keep permits of a gate: the first whose queue has a worker for it. */
  first(gate: GateLine): Claim | undefined {
    return gate.claims.find((claim) => this.#lines.queueOf(claim.flow).canWork());
  }

  /** Brings the claims of a gate up to date; answers when they must be looked at again. */
  look(gate: GateLine, now: number): number {
    if (isOpen(gate, now)) {
      // Their other gates may wake them later than that, if this one was what they waited for.
      let at = Number.POSITIVE_INFINITY;
      for (const claim of [...gate.claims]) at = Math.min(at, this.#lookAt(claim, now));
      return at;
    }
    const first = this.first(gate);
    for (const claim of gate.claims) {
      if (claim !== first && claim.isActive) this.#stop(claim);
    }
    return first === undefined ? Number.POSITIVE_INFINITY : this.#lookAt(first, now);
  }

  /** The claim keeps nothing any more. */
  #stop(claim: Claim): void {
    claim.isActive = false;
    claim.at = Number.POSITIVE_INFINITY;
    this.#withdraw(claim);
    this.#lookAtOthers(claim);
  }

  #lookAt(claim: Claim, now: number): number {
    const isFirst =
      this.#lines.queueOf(claim.flow).canWork() &&
      claim.gates.every((gate) => isOpen(gate, now) || this.first(gate) === claim);
    if (!isFirst) {
      if (claim.isActive) this.#stop(claim);
      return Number.POSITIVE_INFINITY;
    }
    const at = this.#opensAt(claim, now);
    if (at === undefined) return this.#drop(claim, now);
    if (!claim.isActive || claim.at !== at) this.#lookAtOthers(claim);
    claim.isActive = true;
    claim.at = at;
    if (at > now) {
      this.#withdraw(claim);
      return at;
    }
    this.#offer(claim);
    return Number.POSITIVE_INFINITY;
  }

  /** When all gates of a claim pass; Infinity: not known; undefined: not before long. */
  #opensAt(claim: Claim, now: number): number | undefined {
    const cost = this.#lines.costOf(claim.flow);
    let at = now;
    let isKnown = true;
    for (const gate of claim.gates) {
      if (gate.cooldownUntil > now + PATIENCE_MS) return undefined;
      at = Math.max(at, gate.timedAt(cost, claim.tier, now));
      const hasRoom = gate.hasRoom(cost, claim.tier, now);
      isKnown &&= isOpen(gate, now) || (hasRoom && !this.#isBehind(gate, claim.tier));
    }
    if (at === Number.POSITIVE_INFINITY) return undefined;
    return isKnown ? at : Number.POSITIVE_INFINITY;
  }

  #lookAtOthers(claim: Claim): void {
    for (const gate of claim.gates) if (gate.inLine > 0) this.#lines.look(gate);
  }

  #drop(claim: Claim, now: number): number {
    this.#remove(claim);
    this.settleFlow(claim.flow, this.#setOf(claim.flow), now);
    return Number.POSITIVE_INFINITY;
  }

  #offer(claim: Claim): void {
    if (this.#w.lanes.get(claim.flow, FLOW_STATE) === CLAIM_OFFERED) return;
    this.#w.lanes.set(claim.flow, FLOW_STATE, CLAIM_OFFERED);
    this.#w.lanes.ready(claim.flow);
    this.#w.wake(this.#lines.queueOf(claim.flow), claim.tier);
  }

  #withdraw(claim: Claim): void {
    if (this.#w.lanes.get(claim.flow, FLOW_STATE) !== CLAIM_OFFERED) return;
    this.#w.lanes.set(claim.flow, FLOW_STATE, CLAIMS);
    this.#w.lanes.unready(claim.flow);
  }

  /** Whether a job may pass a gate without taking what the gate's active claim needs. */
  leavesRoom(gate: GateLine, cost: number, tier: number, now: number): boolean {
    const claim = gate.claims.find((each) => each.isActive);
    if (claim === undefined || tier < claim.tier) return true;
    const claimCost = this.#lines.costOf(claim.flow);
    return gate.passesBeside(cost, tier, claimCost, claim.tier, claim.at, now);
  }

  admit(flow: number, set: GateSet, now: number): boolean {
    const lanes = this.#w.lanes;
    const cost = this.#lines.costOf(flow);
    const tier = this.#lines.tierOf(flow);
    if (lanes.get(flow, FLOW_STATE) === READY) {
      const turns = lanes.get(flow, TURNS);
      const isKept = set.gates.some((gate, i) =>
        this.#keeps(gate, ((turns >>> i) & 1) === 1, flow, now),
      );
      if (isKept) {
        lanes.set(flow, FLOW_STATE, RESTING);
        lanes.unready(flow);
        this.settleFlow(flow, set, now);
        return false;
      }
    } else if (!set.gates.every((gate) => gate.passes(cost, tier, now))) {
      this.#withdraw(this.#claimOf(flow));
      for (const gate of set.gates) this.#lines.look(gate);
      return false;
    }
    for (const gate of set.gates) {
      gate.take(cost, tier, now);
      gate.decisions.passed++;
      this.#lines.changed(gate);
    }
    return true;
  }

  headChanged(flow: number): void {
    const lanes = this.#w.lanes;
    const state = lanes.get(flow, FLOW_STATE);
    if (state === WAITS_TURN) {
      const gate = this.#w.gates.set(lanes.get(lanes.get(flow, SEAT), GATES)).gates[0]!;
      this.#lines.look(gate);
      if (lanes.get(flow, HEAD) === 0) {
        this.#detach(flow, gate);
        lanes.set(flow, TURNS, 0);
      }
      return;
    }
    const claim = this.#claimOf(flow);
    if (lanes.get(flow, HEAD) === 0) return this.#remove(claim);
    if (state === CLAIM_OFFERED) this.#withdraw(claim);
    for (const gate of claim.gates) this.#lines.look(gate);
  }

  /** A claim was dispatched: the next job of its flow starts anew. */
  dispatched(flow: number, now: number): void {
    const lanes = this.#w.lanes;
    if (lanes.get(flow, FLOW_STATE) === CLAIM_OFFERED) this.#remove(this.#claimOf(flow));
    else {
      lanes.set(flow, TURNS, 0);
      lanes.set(flow, FLOW_STATE, RESTING);
      lanes.unready(flow);
    }
    if (lanes.get(flow, HEAD) !== 0) this.settleFlow(flow, this.#setOf(flow), now);
  }

  workChanged(queue: Queue): void {
    for (const claim of queue.claims) {
      for (const gate of claim.gates) this.#lines.look(gate);
    }
  }
}

/** A gate without limits: nobody has to wait there, or to keep anything for others. */
function isOpen(gate: GateLine, now: number): boolean {
  return gate.config === undefined && gate.cooldownUntil <= now;
}
