import { IDLE_MS } from "../limits.ts";
import { CLAIM_OFFERED, CLAIMS, RESTING, STRAND_STATE, TURNS } from "../ring/node-fields.ts";
import type { Claim, GateLine } from "./gate-line.ts";
import type { LineCalls, LineWorld } from "./line-world.ts";

/**
 * Claims looked at in one look at a gate. Those beyond wait until one before them leaves, so a
 * gate with ten thousand claims costs no more to look at than one with eight.
 */
const CLAIMS_PER_LOOK = 8;

/** What kind of gate this is to a claim: it keeps nothing there, a place, or a timed permit. */
const OPEN = 0;
const PLACE = 1;
const TIMED = 2;

/**
 * Which permits are kept for claims.
 *
 * A claim is in one of these states:
 *   IDLE     An older or more urgent claim keeps a timed permit that it needs, or its queue has no
 *            free worker. It keeps nothing.
 *   FAR      It is the keeper of all its gates that have a rate, windows or an interval, and the
 *            last of them opens more than a second from now. Other jobs pass these gates if a
 *            permit is there again at that time. Places are not kept: they are used by others.
 *   NEAR     The last one opens within a second, or all are open (the claim is *ripe*). It is
 *            listed in `near` of all its gates. The first of the list, by tier and age, becomes the
 *            keeper of the places as well, of all of them or of none.
 *   HOLDING  NEAR, keeper of all, and the places that are free idle for it (`held`).
 *   OFFERED  All gates pass; it is in its lane's heap and is dispatched next.
 *
 * NEAR becomes HOLDING in two cases only. Either all places are free and the last timed permit is
 * due within the idle time that is left; or the claim is ripe, lacks other places, and each of them
 * had a release within the last second, so that the next one is likely soon. Otherwise the claim
 * keeps its timed permits and waits: the next release of the place that it lacks goes to it, and no
 * place idles at all.
 *
 * The idle time is a budget of the gate (`idleLeftMs`). It is one second at first and again after
 * each dispatch of a job with several gates there, and each millisecond for which a place idles is
 * taken from it. A place that one claim gives up and the next one keeps has idled without a break
 * (`idleMs`). So a place never idles for more than a second at a time, nor in total for more than a
 * second per such job dispatched and one more.
 *
 * A claim with several places is dropped when each of them has been free without the others, and
 * starts again with its turns. Otherwise it would keep its timed permits for places that are never
 * free together.
 *
 * While a claim is ripe and lacks a place that is released rarely, others may still use a timed
 * permit that is back within the idle time: the place then idles for the rest (`spareMs`).
 *
 * A claim that lacks a borrowed permit keeps its timed permits for a second at most, and again when
 * it has borrowed one. Otherwise the claims of two partitions, each the home of a gate that the
 * other one borrows, would wait for each other without end. For the same reason a claim asks for
 * borrowed permits one after another, in an order that is the same in all partitions (`first`).
 *
 * None of this is a fact. After a restart the strands take their turns again with a full budget.
 */
export class KeptPermits {
  readonly #w: LineWorld;
  readonly #lines: LineCalls;
  readonly #restart: (claim: Claim, now: number) => void;
  #order = 0;

  constructor(world: LineWorld, lines: LineCalls, restart: (claim: Claim, now: number) => void) {
    this.#w = world;
    this.#lines = lines;
    this.#restart = restart;
  }

  add(strand: number, gates: readonly GateLine[], now: number): void {
    const claim: Claim = {
      strand,
      gates,
      tier: this.#lines.tierOf(strand),
      order: this.#order++,
      at: Number.POSITIVE_INFINITY,
      isNear: false,
      wasRipe: false,
      spareMs: 0,
      held: 0,
      heldFrom: 0,
      missed: 0,
      isLacking: false,
      noRoom: 0,
      keptUntil: Number.POSITIVE_INFINITY,
      isGone: false,
    };
    this.#w.lanes.set(strand, STRAND_STATE, CLAIMS);
    this.#lines.queueOf(strand).claims.add(claim);
    for (const gate of gates) insert(gate.claims, claim);
    this.#lookAt(claim, now);
    for (const gate of gates) this.#lines.look(gate);
  }

  remove(claim: Claim, now: number): void {
    this.#keepNothing(claim, now);
    this.#leaveNear(claim, now);
    claim.isGone = true;
    this.#lines.queueOf(claim.strand).claims.delete(claim);
    for (const gate of claim.gates) {
      gate.claims.splice(gate.claims.indexOf(claim), 1);
      this.#lines.look(gate);
    }
    this.#w.lanes.set(claim.strand, STRAND_STATE, RESTING);
    this.#w.lanes.set(claim.strand, TURNS, 0);
  }

  /**
   * The claim for which a borrowed gate asks its home, if it has room at all gates before this one.
   * Two claims that each borrowed what the other one lacks would borrow the same again whenever
   * their lots expire.
   */
  first(gate: GateLine): Claim | undefined {
    const claim = gate.keeper;
    if (!claim?.isNear) return undefined;
    const isEarlier = (other: GateLine, i: number): boolean =>
      ((claim.noRoom >>> i) & 1) === 1 && isAskedBefore(other, gate);
    return claim.gates.some(isEarlier) ? undefined : claim;
  }

  /** Brings the claims of a gate up to date; answers when they must be looked at again. */
  look(gate: GateLine, now: number): number {
    const kind = kindOf(gate);
    const isOther = kind !== gate.claimKind;
    gate.claimKind = kind;
    if (isOther && gate.keeper !== undefined) this.#keepNothing(gate.keeper, now);
    const list = kind === PLACE && !isOther ? gate.near : gate.claims;
    const most = isOther || kind === OPEN ? list.length : CLAIMS_PER_LOOK;
    let at = Number.POSITIVE_INFINITY;
    let looks = 0;
    for (const claim of list.length === 1 ? [list[0]!] : [...list]) {
      if (claim.isGone) continue;
      if (!this.#lines.queueOf(claim.strand).canWork()) {
        this.#keepNothing(claim, now);
        continue;
      }
      if (kind === PLACE && !isOther && this.#isShutOut(claim, gate)) continue;
      at = Math.min(at, this.#lookAt(claim, now));
      if (++looks >= most || (kind !== PLACE && !isOther && gate.keeper === claim)) break;
    }
    return at;
  }

  /** An older claim uses the gate's place, or is about to: there is nothing to look at. */
  #isShutOut(claim: Claim, gate: GateLine): boolean {
    const { keeper } = gate;
    if (keeper === undefined || !isBefore(keeper, claim) || this.#isOffered(claim)) return false;
    return this.#isOffered(keeper) || holds(keeper, gate);
  }

  #lookAt(claim: Claim, now: number): number {
    const at = this.#opensAt(claim, now);
    if (at === undefined) {
      this.#restart(claim, now);
      return Number.POSITIVE_INFINITY;
    }
    if (!this.#keep(claim, TIMED, now)) {
      this.#keepNothing(claim, now);
      return Number.POSITIVE_INFINITY;
    }
    if (claim.at !== at && Math.max(claim.at, at) > now) this.#lookAtLines(claim);
    claim.at = at;
    claim.wasRipe ||= at <= now;
    if (at > now + IDLE_MS) {
      this.#leaveNear(claim, now);
      return claim.gates.some(hasPlaces) ? at - IDLE_MS : at;
    }
    this.#joinNear(claim);
    const until = this.#limitKeeping(claim, now);
    if (this.#keep(claim, PLACE, now)) return Math.min(until, this.#serve(claim, now));
    this.#serveBeside(claim, now);
    return until;
  }

  /** A second for the borrowed permits that it lacks; answers when that is over. */
  #limitKeeping(claim: Claim, now: number): number {
    const isLacking = this.#noteRoom(claim, now);
    const isKnown = isLacking === (claim.keptUntil !== Number.POSITIVE_INFINITY);
    if (!isKnown) {
      claim.keptUntil = isLacking ? claim.at + IDLE_MS : Number.POSITIVE_INFINITY;
      this.#lookAtLines(claim);
    }
    return claim.keptUntil > now ? claim.keptUntil : Number.POSITIVE_INFINITY;
  }

  /** Notes which gates have no room for a claim; answers whether it lacks a borrowed permit. */
  #noteRoom(claim: Claim, now: number): boolean {
    const cost = this.#lines.costOf(claim.strand);
    let noRoom = 0;
    let isLacking = false;
    claim.gates.forEach((gate, i) => {
      if (gate.hasRoom(cost, claim.tier, now)) return;
      noRoom |= 1 << i;
      isLacking ||= gate.stock !== undefined;
    });
    if (claim.noRoom === noRoom) return isLacking;
    claim.noRoom = noRoom;
    for (const gate of claim.gates) if (gate.stock !== undefined) this.#lines.look(gate);
    return isLacking;
  }

  /** When the timed parts of all gates of a claim are open; undefined: not before long. */
  #opensAt(claim: Claim, now: number): number | undefined {
    const cost = this.#lines.costOf(claim.strand);
    let at = now;
    for (const gate of claim.gates) {
      if (gate.cooldownUntil > now + IDLE_MS) return undefined;
      at = Math.max(at, gate.timedAt(cost, claim.tier, now));
    }
    return at === Number.POSITIVE_INFINITY ? undefined : at;
  }

  /** Makes a claim the keeper of all its gates of a kind, or of none. */
  #keep(claim: Claim, kind: number, now: number): boolean {
    for (const gate of claim.gates) {
      const { keeper } = gate;
      if (keeper === undefined || keeper === claim || kindOf(gate) !== kind) continue;
      if (isBefore(keeper, claim)) return false;
    }
    for (const gate of claim.gates) {
      if (gate.keeper === claim || kindOf(gate) !== kind) continue;
      if (gate.keeper !== undefined) this.#oust(gate.keeper, kind, now);
      gate.keeper = claim;
      this.#lines.look(gate);
    }
    return true;
  }

  #oust(claim: Claim, kind: number, now: number): void {
    if (kind === PLACE) this.#losePlaces(claim, now);
    else this.#keepNothing(claim, now);
  }

  #joinNear(claim: Claim): void {
    if (claim.isNear) return;
    claim.isNear = true;
    for (const gate of claim.gates) insert(gate.near, claim);
    this.#lookAtLines(claim);
  }

  #leaveNear(claim: Claim, now: number): void {
    if (!claim.isNear) return;
    this.#losePlaces(claim, now);
    claim.isNear = false;
    for (const gate of claim.gates) {
      gate.near.splice(gate.near.indexOf(claim), 1);
      this.#lines.look(gate);
    }
  }

  #losePlaces(claim: Claim, now: number): void {
    this.#withdraw(claim);
    this.#hold(claim, 0, now);
    this.#loseKind(claim, PLACE);
  }

  #loseKind(claim: Claim, kind: number): void {
    for (const gate of claim.gates) {
      if (gate.keeper !== claim || (kindOf(gate) === TIMED) !== (kind === TIMED)) continue;
      gate.keeper = undefined;
      this.#lines.look(gate);
    }
  }

  /** A claim without timed gates stays near: nothing else would have it looked at again. */
  #keepNothing(claim: Claim, now: number): void {
    if (claim.at === Number.POSITIVE_INFINITY) return;
    this.#losePlaces(claim, now);
    if (claim.gates.some((gate) => kindOf(gate) === TIMED)) this.#leaveNear(claim, now);
    claim.at = Number.POSITIVE_INFINITY;
    this.#loseKind(claim, TIMED);
  }

  /**
   * An older claim is the keeper of a place that this one needs. While the older one waits for
   * something else and does not hold the place, this one can use it, as jobs with one gate can.
   */
  #serveBeside(claim: Claim, now: number): void {
    this.#hold(claim, 0, now);
    this.#loseKind(claim, PLACE);
    const cost = this.#lines.costOf(claim.strand);
    const isOpen = (gate: GateLine): boolean => {
      if (!gate.hasRoom(cost, claim.tier, now)) return false;
      if (kindOf(gate) !== OPEN && this.isBehind(gate, claim.tier)) return false;
      return gate.keeper === claim || this.leavesRoom(gate, cost, claim.tier, now);
    };
    if (claim.at <= now && claim.gates.every(isOpen)) this.#offer(claim);
    else this.#withdraw(claim);
  }

  /** The keeper of all its gates: it is offered, or holds places, or waits for a release. */
  #serve(claim: Claim, now: number): number {
    const cost = this.#lines.costOf(claim.strand);
    let lacks = 0;
    let places = 0;
    claim.gates.forEach((gate, i) => {
      if (hasPlaces(gate)) places |= 1 << i;
      const isBehind = kindOf(gate) !== OPEN && this.isBehind(gate, claim.tier);
      if (isBehind || !gate.hasRoom(cost, claim.tier, now)) lacks |= 1 << i;
    });
    claim.isLacking = lacks !== 0;
    if (lacks === 0 && claim.at <= now) {
      this.#hold(claim, 0, now);
      this.#offer(claim);
      return Number.POSITIVE_INFINITY;
    }
    this.#withdraw(claim);
    return this.#wait(claim, lacks, places, now);
  }

  #wait(claim: Claim, lacks: number, places: number, now: number): number {
    this.#hold(claim, claim.held, now);
    const free = places & ~lacks;
    const leftMs = idleLeft(claim, free === 0 ? places : free);
    if (lacks === 0) return this.#awaitTime(claim, free, leftMs, now);
    const isSoon = areBrisk(claim, lacks, now);
    this.#setSpare(claim, isSoon ? 0 : idleLeft(claim, places));
    if (claim.at > now) {
      this.#hold(claim, 0, now);
      return claim.at;
    }
    if (free !== 0 && isSoon && leftMs > 0) {
      this.#hold(claim, free, now);
      return now + leftMs;
    }
    this.#hold(claim, 0, now);
    // Behind a more urgent lane at a timed gate, with all places free, it has missed nothing: it
    // would claim again at once, without end.
    if ((places & lacks) !== 0) claim.missed |= free;
    if (claim.missed === places && (places & (places - 1)) !== 0) this.#restart(claim, now);
    return isSoon ? now + IDLE_MS + 1 : Number.POSITIVE_INFINITY;
  }

  /** All places are free and a timed permit is due within a second. */
  #awaitTime(claim: Claim, free: number, leftMs: number, now: number): number {
    const startsAt = claim.at - leftMs;
    const isWorthIt = claim.wasRipe || !areBrisk(claim, free, now);
    const isHolding = isWorthIt && leftMs > 0 && now >= startsAt;
    this.#hold(claim, isHolding ? free : 0, now);
    this.#setSpare(claim, 0);
    return isWorthIt && startsAt > now ? startsAt : claim.at;
  }

  #setSpare(claim: Claim, ms: number): void {
    if (claim.spareMs === ms) return;
    claim.spareMs = ms;
    this.#lookAtLines(claim);
  }

  /** Takes what has idled from the budgets, and lets these places idle from now on. */
  #hold(claim: Claim, held: number, now: number): void {
    if ((claim.held | held) === 0) return;
    claim.gates.forEach((gate, i) => {
      if (((claim.held >>> i) & 1) === 1) idled(gate, now - claim.heldFrom);
      else if (((held >>> i) & 1) === 1) idled(gate, 0);
    });
    claim.heldFrom = now;
    if (claim.held === held) return;
    claim.held = held;
    this.#lookAtLines(claim);
  }

  #lookAtLines(claim: Claim): void {
    for (const gate of claim.gates) {
      if (gate.inLine > 0 || gate.isWanted || gate.near.length > 1) this.#lines.look(gate);
    }
  }

  #offer(claim: Claim): void {
    if (this.#isOffered(claim)) return;
    this.#w.lanes.set(claim.strand, STRAND_STATE, CLAIM_OFFERED);
    this.#w.lanes.ready(claim.strand);
    this.#w.wake(this.#lines.queueOf(claim.strand), claim.tier);
    this.#lookAtLines(claim);
  }

  #withdraw(claim: Claim): void {
    if (!this.#isOffered(claim)) return;
    this.#w.lanes.set(claim.strand, STRAND_STATE, CLAIMS);
    this.#w.lanes.unready(claim.strand);
  }

  #isOffered(claim: Claim): boolean {
    return this.#w.lanes.get(claim.strand, STRAND_STATE) === CLAIM_OFFERED;
  }

  /** A claim cannot go out after all, or its head is another: it is looked at again. */
  again(claim: Claim): void {
    this.#withdraw(claim);
    for (const gate of claim.gates) this.#lines.look(gate);
  }

  /** A job with this gate alone has taken a place. */
  used(gate: GateLine): void {
    const { keeper } = gate;
    if (keeper === undefined || !holds(keeper, gate)) gate.isIdled = false;
  }

  /** More urgent lanes stand in the gate's line. */
  isBehind(gate: GateLine, tier: number): boolean {
    return gate.inLine > 0 && gate.topTier < tier;
  }

  /** Whether a job may pass a gate without taking what the gate's keeper needs. */
  leavesRoom(gate: GateLine, cost: number, tier: number, now: number): boolean {
    const claim = gate.keeper;
    if (claim === undefined || tier < claim.tier) return true;
    const isOffered = this.#isOffered(claim);
    const isKeepingOver = claim.keptUntil <= now;
    // An interval from the end has one place, which is kept and given up with its timed permit.
    const keepsTurn = claim.isNear && !hasPlaces(gate) && !isKeepingOver;
    const keepsPlace = isOffered || holds(claim, gate) || keepsTurn;
    const claimCost = this.#lines.costOf(claim.strand);
    const isUnknown = isKeepingOver || (gate.stock !== undefined && claim.isLacking);
    const spareAt = now + (isOffered ? 0 : claim.spareMs);
    const at = isUnknown ? Number.POSITIVE_INFINITY : Math.max(claim.at, spareAt);
    return gate.passesBeside(cost, claimCost, claim.tier, at, now, keepsPlace);
  }
}

function holds(claim: Claim, gate: GateLine): boolean {
  return ((claim.held >>> claim.gates.indexOf(gate)) & 1) === 1;
}

function insert(list: Claim[], claim: Claim): void {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(list[middle]!, claim)) low = middle + 1;
    else high = middle;
  }
  list.splice(low, 0, claim);
}

function isBefore(a: Claim, b: Claim): boolean {
  return a.tier !== b.tier ? a.tier < b.tier : a.order < b.order;
}

/** A gate with limits whose permits come free when a job ends, and not at a known time. */
function hasPlaces(gate: GateLine): boolean {
  return gate.config?.concurrency !== undefined;
}

function kindOf(gate: GateLine): number {
  const { config } = gate;
  if (config === undefined) return OPEN;
  const isTimed = gate.spacings ?? config.rate ?? gate.windows;
  return isTimed === undefined && hasPlaces(gate) ? PLACE : TIMED;
}

/** Timed permits are asked for first: a place must not idle while they are on their way. */
function isAskedBefore(a: GateLine, b: GateLine): boolean {
  const [first, second] = [kindOf(a), kindOf(b)];
  return first !== second ? first > second : a.key < b.key;
}

/** Each of these gates had a release within the last second: the next one is likely soon. */
function areBrisk(claim: Claim, gates: number, now: number): boolean {
  return claim.gates.every(
    (gate, i) =>
      ((gates >>> i) & 1) === 0 || gate.stock !== undefined || now - gate.releasedAt <= IDLE_MS,
  );
}

/** A place has idled, and no job that waits for it has taken it since. */
function hasIdled(gate: GateLine): boolean {
  return gate.isIdled && gate.inLine > 0;
}

function idled(gate: GateLine, ms: number): void {
  if (ms === 0 && !hasIdled(gate)) gate.idleMs = 0;
  gate.idleMs += ms;
  gate.idleLeftMs = Math.max(0, gate.idleLeftMs - ms);
  gate.isIdled = true;
}

/** For how long these places may still idle; a late caller may have used more than there was. */
function idleLeft(claim: Claim, gates: number): number {
  let ms = IDLE_MS;
  claim.gates.forEach((gate, i) => {
    if (((gates >>> i) & 1) === 0) return;
    ms = Math.min(ms, gate.idleLeftMs);
    if (hasIdled(gate)) ms = Math.min(ms, IDLE_MS - gate.idleMs);
  });
  return Math.max(0, ms);
}
