import * as jobFields from "../jobs/job-fields.ts";
import { lotFor } from "../lending/lot-size.ts";
import { noteMissing } from "../lending/missing.ts";
import type { QueueState } from "../queues/queue-state.ts";
import * as nodeFields from "../ring/node-fields.ts";
import { Claims } from "./claim.ts";
import type { GateLine, GateSet } from "./gate-line.ts";
import type { LineCalls, LineWorld } from "./line-world.ts";

const { COST, JOB_INTS, SEQ } = jobFields;
const { AT_TIER, ATTACHED, CHILD, STRAND_STATE, GATES, HEAD, IDLE, IN_LANE, LINED } = nodeFields;
const { NODE_INTS, OFFERED, OUT, QUEUE, READY, RESTING, RING, WAITS_TURN, WEIGHT, WHERE } =
  nodeFields;

/** Steps that looking at gates may take in one call; the rest is done by the next one. */
const STEPS_PER_CALL = 1000;
/** Strands let go at once when a gate has room for its whole line. */
const LET_GO = 64;
/** Jobs failed in one call because their gate opens too late for them. */
const JUDGED_PER_LOOK = 256;

/**
 * Which strands are ready, and who waits for which gate.
 *
 * A strand is in one of these states (STRAND_STATE), set here and in claim.ts only:
 *   RESTING     it has no waiting job, or is between two of the others
 *   READY       in its lane's heap: its gates were open and without a line when last looked at
 *   LINED       its seat is in the line of its only gate
 *   OFFERED     as LINED, first in line, and in its lane's heap: the gate's next permit is its own
 *   WAITS_TURN, CLAIMS, CLAIM_OFFERED   strands with several gates, see claim.ts
 *
 * A READY strand that finds its gate shut when its lane is served goes to the line: gates are
 * looked at when a strand gets its first job and when it is served, never in between, so a gate
 * that shuts under a million ready lanes costs nothing at that moment.
 *
 * A gate is looked at (`look`, then `settle`) whenever the answer to "who is first, and does it
 * pass?" may have changed: a seat joins an empty line or a more urgent tier, the first leaves, its
 * head changes, a permit is taken or released, the limits change, time has come. Code that changes
 * one of these must call `look`. If a call is missing, a job is stuck.
 */
export class Lines implements LineCalls {
  readonly claims: Claims;
  readonly #w: LineWorld;
  #due: GateLine[] = [];

  constructor(world: LineWorld) {
    this.#w = world;
    this.claims = new Claims(world, this);
    world.gates.forgotten = (gate) => world.lineTree.drop(gate);
    world.lineTree.gateAt = (row) => world.gates.at(row);
  }

  /** A strand that rests has a job at its head: is it ready, or must it wait? */
  settleStrand(strand: number, now: number): void {
    const set = this.#w.gates.set(this.#w.lanes.get(strand, GATES));
    if (set.gates.length > 1) return this.claims.settleStrand(strand, set, now);
    if (set.id === 0) return this.ready(strand);
    const gate = set.gates[0]!;
    if (this.#isOpen(gate, strand, now)) this.ready(strand);
    else this.#stand(strand, gate);
  }

  #isOpen(gate: GateLine, strand: number, now: number): boolean {
    if (gate.config === undefined && gate.cooldownUntil <= now) return true;
    if (gate.claims.length > 0) return false;
    if ((gate.inLine > 0 || gate.isWanted) && !this.#isPlenty(gate, now)) return false;
    if (!gate.passes(this.costOf(strand), this.tierOf(strand), now)) return false;
    return gate.balances === undefined || !this.#mustRest(gate, strand, now);
  }

  /** The permit that a strand with this gate alone would take is owed to one with several. */
  #mustRest(gate: GateLine, strand: number, now: number): boolean {
    const cost = this.costOf(strand);
    const tier = this.tierOf(strand);
    if (!gate.passes(cost, tier, now)) return false;
    const lane = this.#w.lanes.get(strand, IN_LANE);
    return this.claims.balances.keepsBack(gate, lane, cost, tier, now);
  }

  costOf(strand: number): number {
    const head = this.#w.rings.nodes.i[strand * NODE_INTS + HEAD]!;
    return this.#w.jobs.i[head * JOB_INTS + COST]!;
  }

  tierOf(strand: number): number {
    const nodes = this.#w.rings.nodes.i;
    return nodes[nodes[strand * NODE_INTS + IN_LANE]! * NODE_INTS + AT_TIER]!;
  }

  queueOf(strand: number): QueueState {
    return this.#w.queues[this.#w.lanes.get(this.#w.lanes.get(strand, IN_LANE), QUEUE)]!;
  }

  ready(strand: number): void {
    this.#w.lanes.set(strand, STRAND_STATE, READY);
    this.#w.lanes.ready(strand);
    this.#w.wake(this.queueOf(strand), this.tierOf(strand));
  }

  #stand(strand: number, gate: GateLine): void {
    this.#w.lanes.set(strand, STRAND_STATE, LINED);
    this.join(strand, gate);
  }

  /** Puts a seat into the line of its gate, unless it is there already. */
  join(seat: number, gate: GateLine): void {
    const where = this.#w.lanes.get(seat, WHERE);
    if (where !== OUT && where !== IDLE) return;
    if (gate.resting?.delete(seat)) gate.inLine--;
    this.#w.lineTree.bind(seat, gate);
    const lane = this.#w.lanes.get(seat, IN_LANE);
    const tier = this.#w.lanes.get(lane, AT_TIER);
    const entry = gate.entries.get(this.#w.lanes.get(lane, QUEUE) * 64 + tier)!;
    const first = this.#w.rings.sizeOf(this.#w.lanes.get(entry, CHILD)) === 0;
    this.#w.rings.activate(seat);
    gate.inLine++;
    if (first || tier < gate.topTier) this.look(gate);
  }

  /** Takes a seat out of the line when neither its own jobs nor attached strands wait there. */
  leave(seat: number, gate: GateLine): void {
    const state = this.#w.lanes.get(seat, STRAND_STATE);
    if (state === LINED || state === OFFERED || this.#w.lanes.get(seat, ATTACHED) !== 0) return;
    gate.resting?.delete(seat);
    this.#w.rings.deactivate(seat);
    gate.inLine--;
    this.look(gate);
  }

  /** Have the gate looked at before the call returns. */
  look(gate: GateLine): void {
    if (gate.isDue || gate.isForgotten) return;
    gate.isDue = true;
    this.#due.push(gate);
  }

  /** Looks at every gate that is due; what is too much for one call is left to the next. */
  settle(now: number): void {
    const stopAt = this.#w.rings.steps + STEPS_PER_CALL;
    for (let i = 0; i < this.#due.length; i++) {
      const gate = this.#due[i]!;
      gate.isDue = false;
      if (this.#w.rings.steps < stopAt) this.#lookAt(gate, now);
      else this.#w.gates.wakeAt(gate, now);
    }
    if (this.#due.length > 0) this.#due = [];
  }

  get isSettled(): boolean {
    return this.#due.length === 0;
  }

  #lookAt(gate: GateLine, now: number): void {
    this.#w.rings.steps++;
    if (gate.lending !== undefined || gate.stock !== undefined) this.#expireLots(gate, now);
    if (gate.waits !== undefined && !this.#w.isReplaying) this.#judge(gate, now);
    if (gate.resting !== undefined) this.claims.balances.forgive(gate, now);
    const top = this.#top(gate, now);
    const claimAt =
      gate.claims.length === 0 ? Number.POSITIVE_INFINITY : this.claims.kept.look(gate, now);
    if (gate.offer !== 0 && gate.offer !== top) this.withdraw(gate);
    if (gate.stock !== undefined) this.#noteMissing(gate, top, now);
    if (gate.isWanted && this.#lend(gate, top, claimAt, now)) return;
    if (top === 0) return this.#wakeAt(gate, claimAt, now);
    if (isShared(gate)) this.queueOf(top).offers.add(gate);
    const cost = this.costOf(top);
    const tier = this.tierOf(top);
    const at = gate.opensAt(cost, tier, now);
    if (at > now) {
      gate.decisions.keep(gate, at, cost, tier, now);
      this.withdraw(gate);
      return this.#wakeAt(gate, Math.min(at, claimAt), now);
    }
    this.#wakeAt(gate, claimAt, now);
    if (gate.claims.length > 0 && !this.claims.kept.leavesRoom(gate, cost, tier, now)) {
      return this.withdraw(gate);
    }
    if (this.#w.lanes.get(top, STRAND_STATE) === WAITS_TURN) {
      this.claims.turn(top, gate, now);
      this.look(gate);
    } else if (gate.offer === 0) this.#offer(gate, top, now);
  }

  /** A gate that borrows has nothing to ask for while it is cooled down: it asks when that ends. */
  #wakeAt(gate: GateLine, time: number, now: number): void {
    const isCooled = gate.stock !== undefined && gate.cooldownUntil > now;
    this.#w.gates.wakeAt(gate, isCooled ? Math.min(time, gate.cooldownUntil) : time);
  }

  #expireLots(gate: GateLine, now: number): void {
    gate.stock?.expire(now);
    if (gate.lending === undefined || this.#w.isReplaying) return;
    for (const lot of [...gate.lending.lots.values()]) {
      if (!lot.isExpired && lot.until <= now) this.#w.lotExpired(gate, lot);
    }
  }

  /** Lends to the borrower whose turn it is, or waits for what it needs; false: it is no one's. */
  #lend(gate: GateLine, top: number, claimAt: number, now: number): boolean {
    const tier = top === 0 ? Number.POSITIVE_INFINITY : this.tierOf(top);
    const lending = gate.lending!;
    const want = lending.next(tier, gate.inLine);
    if (want === undefined) return false;
    this.withdraw(gate);
    const parties = lending.wants.size + (top === 0 ? 0 : 1);
    const lot = lotFor(gate, want, parties, now);
    if (lot.at > now) {
      this.#w.gates.wakeAt(gate, Math.min(lot.at, claimAt));
      return true;
    }
    const leavesRoom = (cost: number): boolean =>
      gate.claims.length === 0 || this.claims.kept.leavesRoom(gate, cost, want.tier, now);
    const isWhole = leavesRoom(lot.cost);
    if (!isWhole && !leavesRoom(want.least)) {
      this.#w.gates.wakeAt(gate, claimAt);
      return true;
    }
    const cost = isWhole ? lot.cost : want.least;
    this.#w.lend(gate, want.borrower, cost, isWhole ? lot.jobs : 1, want.tier);
    lending.serve(want, cost);
    this.look(gate);
    return true;
  }

  #noteMissing(gate: GateLine, top: number, now: number): void {
    const claim = this.claims.kept.first(gate);
    const first = top === 0 ? undefined : { cost: this.costOf(top), tier: this.tierOf(top) };
    const claimed = claim && { cost: this.costOf(claim.strand), tier: claim.tier };
    noteMissing(gate, gate.stock!, first, claimed, now);
  }

  /** The strand that is first in line; 0 if no strand in the line can be dispatched. */
  #top(gate: GateLine, now: number): number {
    for (let tier = 0; tier < gate.lines.length; tier++) {
      const ring = gate.lines[tier]!;
      if (ring === 0) continue;
      for (;;) {
        const entry = this.#w.rings.peek(ring);
        if (entry === 0) break;
        const queue = this.#w.queues[this.#w.lanes.get(entry, QUEUE)]!;
        this.#w.rings.setWeight(entry, queue.config.weight);
        if ((isShared(gate) || queue.deleted) && !queue.canWork()) {
          this.#w.rings.deactivate(entry);
          queue.passedOver.add(gate);
          continue;
        }
        gate.topTier = tier;
        const seat = this.#w.rings.leaf(this.#w.lanes.get(entry, CHILD));
        const strand = this.#headStrand(seat, gate);
        if (gate.balances === undefined || strand !== seat || !this.#mustRest(gate, seat, now)) {
          return strand;
        }
        // The permit is owed to the strand that waits here: it must not rest with its lane's seat.
        const attached = this.#w.lanes.get(seat, ATTACHED);
        if (attached !== 0) return attached;
        this.claims.balances.rest(gate, seat, now);
      }
    }
    gate.topTier = Number.POSITIVE_INFINITY;
    return 0;
  }

  /**
   * Of a seat's own strand and those attached to it, the one with the older head; but those
   * attached have at least every second turn.
   */
  #headStrand(seat: number, gate: GateLine): number {
    const attached = this.#w.lanes.get(seat, ATTACHED);
    if (attached === 0) return seat;
    const state = this.#w.lanes.get(seat, STRAND_STATE);
    if (state !== LINED && state !== OFFERED) return attached;
    if (gate.balances?.get(this.#w.lanes.get(seat, IN_LANE))?.isSecondNext) return attached;
    const age = (strand: number): number => this.#w.jobs.num(this.#w.lanes.get(strand, HEAD), SEQ);
    return age(attached) < age(seat) ? attached : seat;
  }

  /** The gate has permits for all that waits there, so that its line has nothing to decide. */
  #isPlenty(gate: GateLine, now: number): boolean {
    if (gate.queues !== 1 || gate.claims.length > 0 || gate.isWanted) return false;
    return gate.permits(now) >= gate.wanted;
  }

  #offer(gate: GateLine, strand: number, now: number): void {
    if (this.#isPlenty(gate, now)) return this.#release(gate, now);
    gate.offer = strand;
    this.#w.lanes.set(strand, STRAND_STATE, OFFERED);
    this.#w.lanes.ready(strand);
    this.#w.wake(this.queueOf(strand), this.tierOf(strand));
  }

  /** There is room for all that waits: the line dissolves, and the ring alone decides again. */
  #release(gate: GateLine, now: number): void {
    for (let i = 0; i < LET_GO; i++) {
      const strand = this.#top(gate, now);
      if (strand === 0) return;
      if (this.#w.lanes.get(strand, STRAND_STATE) === WAITS_TURN) break;
      this.#w.lanes.set(strand, STRAND_STATE, RESTING);
      if (this.#w.lanes.get(strand, ATTACHED) === 0) {
        this.#w.rings.deactivate(strand);
        gate.inLine--;
      }
      this.ready(strand);
      this.#w.rings.steps++;
    }
    this.look(gate);
  }

  withdraw(gate: GateLine): void {
    const strand = gate.offer;
    if (strand === 0) return;
    this.#endOffer(gate, strand);
    this.#w.lanes.unready(strand);
  }

  #endOffer(gate: GateLine, strand: number): void {
    gate.offer = 0;
    this.#w.lanes.set(strand, STRAND_STATE, LINED);
    const { offers } = this.queueOf(strand);
    if (offers.size > 0) offers.delete(gate);
  }

  /** Fails the jobs that would rather not wait until the gate opens. */
  #judge(gate: GateLine, now: number): void {
    const fail = (row: number, id: number): void => this.#w.failWait(row, id, gate);
    if (!gate.waits!.judge(gate, now, JUDGED_PER_LOOK, fail)) this.look(gate);
    if (gate.waits!.isEmpty) gate.waits = undefined;
  }

  /**
   * The lane's turn has come and this is its oldest ready strand: takes the permits of all its
   * gates, or finds that it must wait and puts it where it waits.
   */
  admit(strand: number, now: number): boolean {
    const nodes = this.#w.rings.nodes.i;
    const at = strand * NODE_INTS;
    const id = nodes[at + GATES]!;
    if (id === 0) return true;
    const set = this.#w.gates.set(id);
    if (set.gates.length > 1) return this.claims.admit(strand, set, now);
    const gate = set.gates[0]!;
    const cost = this.costOf(strand);
    const tier = nodes[nodes[at + IN_LANE]! * NODE_INTS + AT_TIER]!;
    const isOffered = nodes[at + STRAND_STATE] === OFFERED;
    if (isOffered ? gate.passes(cost, tier, now) : this.#isOpen(gate, strand, now)) {
      gate.take(cost, tier, now);
      gate.decisions.passed++;
      if (gate.isIdled) this.claims.kept.used(gate);
      this.#chargeSeat(strand, gate, cost);
      return true;
    }
    this.#sendAway(strand, gate, isOffered);
    return false;
  }

  /** The gate is shut: the strand waits in its line, or returns to it. */
  #sendAway(strand: number, gate: GateLine, isOffered: boolean): void {
    if (isOffered) {
      this.withdraw(gate);
      this.look(gate);
    } else {
      this.#w.lanes.unready(strand);
      this.#stand(strand, gate);
    }
  }

  /** A permit was taken: the lane's books at the gate. */
  #chargeSeat(seat: number, gate: GateLine, cost: number): void {
    if (gate.waits !== undefined) this.look(gate);
    if (gate.config === undefined) return;
    if (gate.balances !== undefined) {
      this.claims.balances.tookOne(gate, this.#w.lanes.get(seat, IN_LANE));
    }
    const { rings, lineTree } = this.#w;
    const nodes = rings.nodes.i;
    const at = seat * NODE_INTS;
    if (nodes[at + RING] === 0) lineTree.bind(seat, gate);
    else {
      const weight = nodes[nodes[at + IN_LANE]! * NODE_INTS + WEIGHT]!;
      if (nodes[at + WEIGHT] !== weight) rings.setWeight(seat, weight);
    }
    lineTree.syncWeights(seat);
    if (gate.queues > 1) rings.charge(seat, cost);
    else rings.chargeBelowRoot(seat, cost);
  }

  /** In a replay: the permits are taken because they were. */
  force(strand: number, cost: number, now: number): void {
    const { gates } = this.#w.gates.set(this.#w.lanes.get(strand, GATES));
    for (const gate of gates) {
      gate.take(cost, this.tierOf(strand), now);
      if (gates.length === 1) this.#chargeSeat(strand, gate, cost);
    }
  }

  /** The strand's head was dispatched: the permits are taken, the job is off the strand. */
  dispatched(strand: number, now: number): void {
    const nodes = this.#w.rings.nodes.i;
    const at = strand * NODE_INTS;
    const id = nodes[at + GATES]!;
    if (id === 0) return this.headChanged(strand, now);
    const { gates } = this.#w.gates.set(id);
    if (gates.length > 1) return this.claims.dispatched(strand, now);
    if (nodes[at + STRAND_STATE] === OFFERED) this.#useOffer(strand, gates[0]!);
    this.headChanged(strand, now);
  }

  #useOffer(strand: number, gate: GateLine): void {
    this.#endOffer(gate, strand);
    this.#w.lanes.unready(strand);
    this.look(gate);
  }

  /** The strand has another head, or none: put it in order wherever it is. */
  headChanged(strand: number, now: number): void {
    const { lanes, rings } = this.#w;
    const nodes = rings.nodes.i;
    const at = strand * NODE_INTS;
    const state = nodes[at + STRAND_STATE]!;
    const isEmpty = nodes[at + HEAD] === 0;
    if (state === READY && !isEmpty) return lanes.heap.update(nodes[at + IN_LANE]!, strand);
    if (state >= WAITS_TURN) return this.claims.headChanged(strand, now);
    this.#moveOn(strand, state, isEmpty, now);
  }

  #moveOn(strand: number, state: number, isEmpty: boolean, now: number): void {
    const { lanes } = this.#w;
    if (state === READY) {
      lanes.set(strand, STRAND_STATE, RESTING);
      if (lanes.get(strand, GATES) !== 0) this.claims.balances.end(strand);
      return lanes.unready(strand);
    }
    if (state === RESTING) {
      if (!isEmpty) this.settleStrand(strand, now);
      return;
    }
    const gate = this.#w.gates.set(lanes.get(strand, GATES)).gates[0]!;
    if (state === OFFERED) this.withdraw(gate);
    this.look(gate);
    if (!isEmpty) return;
    lanes.set(strand, STRAND_STATE, RESTING);
    this.leave(strand, gate);
  }

  /** A leased job has ended: its gates have a place more. */
  release(set: GateSet, now: number): void {
    const { gates } = set;
    for (let i = 0; i < gates.length; i++) {
      gates[i]!.release(now);
      this.changed(gates[i]!);
    }
  }

  /** The limits of a gate have changed. */
  changed(gate: GateLine): void {
    const isWaited = gate.inLine > 0 || gate.claims.length > 0 || gate.waits !== undefined;
    if (isWaited || gate.isWanted) this.look(gate);
  }

  /**
   * A queue has lost its last free worker, or has one again. What it was offered goes to others
   * that share the gate; where it was passed over it takes its place again.
   */
  workChanged(queue: QueueState): void {
    if (queue.canWork()) this.#takePlaces(queue);
    else {
      for (const gate of queue.offers) this.look(gate);
      queue.offers.clear();
    }
    for (const { gates } of queue.claims) for (const gate of gates) this.look(gate);
  }

  #takePlaces(queue: QueueState): void {
    for (const gate of queue.passedOver) {
      for (const entry of gate.entries.values()) {
        if (this.#w.lanes.get(entry, QUEUE) !== queue.index) continue;
        if (this.#w.rings.sizeOf(this.#w.lanes.get(entry, CHILD)) > 0)
          this.#w.rings.activate(entry);
      }
      this.look(gate);
    }
    queue.passedOver.clear();
  }
}

/** Others than the queue that is first may wait here: it must not hold them up without a worker. */
function isShared(gate: GateLine): boolean {
  if (gate.lending !== undefined || gate.stock !== undefined) return true;
  return gate.queues > 1 || gate.claims.length > 0;
}
