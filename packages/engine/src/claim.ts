import { Balances } from "./balance.ts";
import type { GateLine, GateSet } from "./gates.ts";
import { type Claim, Keeping } from "./keep.ts";
import { IDLE_MS } from "./limits.ts";
import type { Lines, LineWorld } from "./line.ts";
import {
  ATTACHED,
  ATTACHED_NEXT,
  ATTACHED_PREV,
  CLAIM_OFFERED,
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
 * Flows whose jobs name several gates: all permits or none, and a bounded wait.
 *
 * State by state:
 *   RESTING, READY as for flows with one gate.
 *   WAITS_TURN     attached to the lane's seat in the line of one gate that kept it. When the seat
 *                  is first and the gate passes, the flow has had its turn there: the seat is
 *                  charged, no permit is taken, and the flow proceeds to the next gate. Gates with
 *                  places come first. The timed permit of the last turn is then free at the moment
 *                  at which the flow claims it.
 *   CLAIMS         it has had its turn at every gate that keeps it, and claims a permit of each.
 *                  Which permits are kept for it, and for how long, is described in keep.ts.
 *   CLAIM_OFFERED  a claim all of whose gates pass; in its lane's heap.
 *
 * A claim is dropped, and the flow starts again with its turns, when a gate is cooled down for more
 * than a second or shut for good, and when its places have passed it by.
 */
export class Claims {
  readonly #w: LineWorld;
  readonly #lines: Lines;
  readonly keeping: Keeping;
  readonly balances: Balances;

  constructor(world: LineWorld, lines: Lines) {
    this.#w = world;
    this.#lines = lines;
    this.balances = new Balances(world, lines);
    this.keeping = new Keeping(world, lines, (claim, now) => {
      this.keeping.remove(claim, now);
      this.settleFlow(claim.flow, this.#setOf(claim.flow), now);
    });
  }

  /** A gate keeps a flow: it is shut, or others wait there and the flow has not had its turn. */
  #keeps(gate: GateLine, hadTurn: boolean, flow: number, now: number): boolean {
    if (isOpen(gate, now)) return false;
    const cost = this.#lines.costOf(flow);
    const tier = this.#lines.tierOf(flow);
    if (!gate.passes(cost, tier, now)) return true;
    if (!hadTurn) return gate.inLine > 0 || gate.claims.length > 0 || gate.isWanted;
    return this.keeping.isBehind(gate, tier) || !this.keeping.leavesRoom(gate, cost, tier, now);
  }

  settleFlow(flow: number, set: GateSet, now: number): void {
    const turns = this.#w.lanes.get(flow, TURNS);
    let isKept = false;
    let next: GateLine | undefined;
    let isNextPlace = false;
    for (let i = 0; i < set.gates.length; i++) {
      const gate = set.gates[i]!;
      const hadTurn = ((turns >>> i) & 1) === 1;
      if (!this.#keeps(gate, hadTurn, flow, now)) continue;
      isKept = true;
      if (hadTurn) continue;
      const isPlace = gate.config?.concurrency !== undefined;
      if (next === undefined || (isPlace && !isNextPlace)) next = gate;
      isNextPlace ||= isPlace;
    }
    if (isKept) this.balances.begin(flow, set.gates);
    // After a turn the permits are kept for it even if all are there. Otherwise an older job of its
    // lane would take them.
    if (next !== undefined) this.#attach(flow, next);
    else if (isKept || turns !== 0) this.keeping.add(flow, set.gates, now);
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
    const balance = gate.balances?.get(lanes.get(flow, IN_LANE));
    if (balance !== undefined) balance.isSecondNext = false;
    this.#w.rings.charge(lanes.get(flow, SEAT), this.#lines.costOf(flow));
    this.#detach(flow, gate);
    this.settleFlow(flow, set, now);
  }

  #setOf(flow: number): GateSet {
    return this.#w.gates.set(this.#w.lanes.get(flow, GATES));
  }

  #claimOf(flow: number): Claim {
    return this.#setOf(flow).gates[0]!.claims.find((claim) => claim.flow === flow)!;
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
      this.keeping.again(this.#claimOf(flow));
      return false;
    }
    for (const gate of set.gates) {
      gate.take(cost, tier, now);
      gate.decisions.passed++;
      gate.idleLeftMs = IDLE_MS;
      this.#lines.changed(gate);
    }
    this.balances.tookAll(flow, set.gates);
    return true;
  }

  headChanged(flow: number, now: number): void {
    const lanes = this.#w.lanes;
    const state = lanes.get(flow, FLOW_STATE);
    if (state === WAITS_TURN) {
      const gate = this.#w.gates.set(lanes.get(lanes.get(flow, SEAT), GATES)).gates[0]!;
      this.#lines.look(gate);
      if (lanes.get(flow, HEAD) === 0) {
        this.#detach(flow, gate);
        lanes.set(flow, TURNS, 0);
        this.balances.end(flow);
      }
      return;
    }
    const claim = this.#claimOf(flow);
    if (lanes.get(flow, HEAD) !== 0) return this.keeping.again(claim);
    this.keeping.remove(claim, now);
    this.balances.end(flow);
  }

  /** A claim was dispatched: the next job of its flow starts anew. */
  dispatched(flow: number, now: number): void {
    const lanes = this.#w.lanes;
    if (lanes.get(flow, FLOW_STATE) === CLAIM_OFFERED)
      this.keeping.remove(this.#claimOf(flow), now);
    else {
      lanes.set(flow, TURNS, 0);
      lanes.set(flow, FLOW_STATE, RESTING);
      lanes.unready(flow);
    }
    if (lanes.get(flow, HEAD) === 0) this.balances.end(flow);
    else this.settleFlow(flow, this.#setOf(flow), now);
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
