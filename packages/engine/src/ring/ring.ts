import { Table } from "../tables/table.ts";
import { FarRounds } from "./far-rounds.ts";
import { IdleMembers } from "./idle-members.ts";
import * as nodeFields from "./node-fields.ts";
import { prepend } from "./prepend.ts";
import * as ringFields from "./ring-fields.ts";

const { CHILD, FAR, FRESH, IDLE, LISTED, NEXT, NODE_INTS, OUT, PREV, REM, RING } = nodeFields;
const { ROUND, WEIGHT, WHERE } = nodeFields;
const { BEYOND, CLOSER, CURSOR, ENDED, FAR_HEAP, FRESH_HEAD, FRESH_TAIL, JOINS } = ringFields;
const { JOINS_LEAST, LAST_WAS_FRESH, LISTS, NEWCOMERS_FIRST, OWNER, R, RING_INTS } = ringFields;
const { SIZE, UNSET } = ringFields;
const RING_DOUBLES = RING_INTS / 2;
const NODE_DOUBLES = NODE_INTS / 2;

/** Rounds kept as lists, counted from R. A power of two. */
const NEAR = 4;

/**
 * Rings of members with weights, served in rounds.
 *
 * A member's position S is what it has been served, cost ÷ weight, as whole rounds plus a
 * remainder. In round R a member is served one job at a visit until S reaches R + 1. The members
 * wait in FIFO lists: the newcomers (FRESH), four rounds from R on (LISTED), and a heap for rounds
 * beyond (FAR), which only a cost much larger than a weight can reach.
 *
 * A ring with newcomers first (tiers, levels of a path) serves a member that becomes active one job
 * at the next opportunity, alternating one to one with the round; the rest of its turn waits at the
 * tail. The round ends when its list is empty and the newcomers present at that moment (up to
 * CLOSER) are served. It takes in about as many newcomers as it began with members (JOINS), so that
 * a flood of them cannot delay the next round without limit. A ring without newcomers first (lines
 * of gates) puts a member that joins at the tail of its round.
 *
 * Lists are linked through the nodes, every step is O(1). A heap of virtual times, the usual
 * choice, took 164 ns a step at a million lanes against 12 ns.
 */
export class Rings {
  readonly nodes: Table;
  readonly rings = new Table(RING_INTS);
  /** Elementary steps taken, for the tests of bounded work. */
  steps = 0;
  readonly #idle: IdleMembers;
  #far: (FarRounds | undefined)[] = [undefined];

  constructor(isReserved = false) {
    this.nodes = new Table(NODE_INTS, isReserved);
    this.#idle = new IdleMembers(this.nodes, this.rings);
  }

  create(owner: number, newcomersFirst: boolean): number {
    const ring = this.rings.alloc();
    const m = this.rings.i;
    const at = ring * RING_INTS;
    m[at + OWNER] = owner;
    m[at + JOINS] = UNSET;
    m[at + NEWCOMERS_FIRST] = newcomersFirst ? 1 : 0;
    return ring;
  }

  /** Makes an inactive node a member of a ring, at the start. */
  place(node: number, ring: number): void {
    const c = this.nodes.i;
    const o = node * NODE_INTS;
    this.nodes.f[node * NODE_DOUBLES + ROUND] = 0;
    c[o + REM] = 0;
    c[o + RING] = ring;
  }

  drop(ring: number): void {
    this.#far[this.#get(ring, FAR_HEAP)] = undefined;
    this.rings.free(ring);
  }

  #get(ring: number, field: number): number {
    return this.rings.i[ring * RING_INTS + field]!;
  }

  ownerOf(ring: number): number {
    return this.#get(ring, OWNER);
  }

  sizeOf(ring: number): number {
    return this.#get(ring, SIZE);
  }

  /** The number of the round being served. */
  roundOf(ring: number): number {
    return this.rings.f[ring * RING_DOUBLES + R]!;
  }

  /** Lets a node, and the owners above it without active members, take part in their rings. */
  activate(node: number): void {
    let at = node;
    while (at !== 0) {
      const c = this.nodes.i;
      const o = at * NODE_INTS;
      const where = c[o + WHERE]!;
      if (where !== OUT && where !== IDLE) return;
      const ring = c[o + RING]!;
      if (ring === 0) return;
      if (where === IDLE) this.unlinkIdle(at);
      const before = this.#enter(ring, at);
      if (before !== 0) return;
      at = this.#get(ring, OWNER);
    }
  }

  /** Takes a node out of its ring, and the owners above it that have no active member left. */
  deactivate(node: number): void {
    let at = node;
    while (at !== 0) {
      const c = this.nodes.i;
      const o = at * NODE_INTS;
      const where = c[o + WHERE]!;
      if (where === OUT || where === IDLE) return;
      const ring = c[o + RING]!;
      this.#unlist(ring, at);
      c[o + WHERE] = OUT;
      const m = this.rings.i;
      const r = ring * RING_INTS;
      m[r + SIZE]!--;
      if (m[r + SIZE] !== 0) return;
      this.#forgetPositions(ring);
      at = m[r + OWNER]!;
    }
  }

  /** If no member is left to compare with, positions mean nothing: R moves past them all. */
  #forgetPositions(ring: number): void {
    const m = this.rings.i;
    const r = ring * RING_INTS;
    if (m[r + NEWCOMERS_FIRST] === 0) return;
    const f = this.rings.f;
    const d = ring * RING_DOUBLES;
    // A turn begun by an advance reaches into the round after the next, and is not in BEYOND yet.
    f[d + R] = Math.max(f[d + R]!, f[d + BEYOND]!) + 2;
    m[r + ENDED] = 0;
    m[r + LAST_WAS_FRESH] = 0;
    m[r + JOINS] = UNSET;
  }

  /** Puts an active node into its ring's lists; answers how many were there before. */
  #enter(ring: number, node: number): number {
    const m = this.rings.i;
    const r = ring * RING_INTS;
    const round = this.rings.f[ring * RING_DOUBLES + R]!;
    const c = this.nodes.i;
    const o = node * NODE_INTS;
    const f = this.nodes.f;
    const k = node * NODE_DOUBLES + ROUND;
    const before = m[r + SIZE]!++;
    if (m[r + NEWCOMERS_FIRST] === 1) {
      if (f[k]! <= round) {
        this.#pushFresh(m, r, node);
        return before;
      }
    } else if (f[k]! < round) {
      f[k] = round;
      c[o + REM] = 0;
    }
    this.#list(ring, node, f[k]!);
    return before;
  }

  #pushFresh(m: Int32Array, r: number, node: number): void {
    const tail = m[r + FRESH_TAIL]!;
    const c = this.nodes.i;
    const o = node * NODE_INTS;
    c[o + WHERE] = FRESH;
    c[o + NEXT] = 0;
    c[o + PREV] = tail;
    if (tail === 0) m[r + FRESH_HEAD] = node;
    else this.nodes.i[tail * NODE_INTS + NEXT] = node;
    m[r + FRESH_TAIL] = node;
  }

  /** Appends a node to the list of a round that is not over. */
  #list(ring: number, node: number, round: number): void {
    const m = this.rings.i;
    const r = ring * RING_INTS;
    const ahead = round - this.rings.f[ring * RING_DOUBLES + R]!;
    if (ahead >= NEAR) return this.#listFar(ring, node, round);
    const slot = r + LISTS + 2 * ((m[r + CURSOR]! + ahead) & (NEAR - 1));
    const tail = m[slot + 1]!;
    const c = this.nodes.i;
    const o = node * NODE_INTS;
    c[o + WHERE] = LISTED;
    c[o + NEXT] = 0;
    c[o + PREV] = tail;
    if (tail === 0) m[slot] = node;
    else this.nodes.i[tail * NODE_INTS + NEXT] = node;
    m[slot + 1] = node;
  }

  #listFar(ring: number, node: number, round: number): void {
    const m = this.rings.i;
    const r = ring * RING_INTS;
    if (m[r + FAR_HEAP] === 0) {
      const free = this.#far.indexOf(undefined, 1);
      m[r + FAR_HEAP] = free === -1 ? this.#far.length : free;
      this.#far[m[r + FAR_HEAP]!] = new FarRounds(this.nodes);
    }
    this.nodes.i[node * NODE_INTS + WHERE] = FAR;
    this.#far[m[r + FAR_HEAP]!]!.add(node, round);
  }

  /** Takes an active node out of whichever list holds it. */
  #unlist(ring: number, node: number): void {
    const m = this.rings.i;
    const r = ring * RING_INTS;
    const c = this.nodes.i;
    const o = node * NODE_INTS;
    const where = c[o + WHERE]!;
    if (where === FAR) return this.#far[m[r + FAR_HEAP]!]!.remove(node);
    const next = c[o + NEXT]!;
    const prev = c[o + PREV]!;
    let head = r + FRESH_HEAD;
    if (where === LISTED) {
      const round = this.nodes.f[node * NODE_DOUBLES + ROUND]!;
      const ahead = Math.max(0, round - this.rings.f[ring * RING_DOUBLES + R]!);
      head = r + LISTS + 2 * ((m[r + CURSOR]! + ahead) & (NEAR - 1));
    } else if (m[r + CLOSER] === node) m[r + CLOSER] = prev;
    if (prev === 0) m[head] = next;
    else this.nodes.i[prev * NODE_INTS + NEXT] = next;
    if (next === 0) m[head + 1] = prev;
    else this.nodes.i[next * NODE_INTS + PREV] = prev;
  }

  /** The member to serve next, 0 when none is active. Asking twice gives the same answer. */
  peek(ring: number): number {
    const m = this.rings.i;
    const r = ring * RING_INTS;
    if (m[r + SIZE] === 0) return 0;
    for (;;) {
      this.steps++;
      const fresh = m[r + FRESH_HEAD]!;
      if (m[r + CLOSER] !== 0) return fresh;
      const now = this.#roundHead(ring);
      if (now !== 0) {
        m[r + ENDED] = 0;
        return fresh !== 0 && m[r + LAST_WAS_FRESH] === 0 ? fresh : now;
      }
      if (m[r + ENDED] === 0) {
        m[r + ENDED] = 1;
        m[r + CLOSER] = m[r + FRESH_TAIL]!;
      } else this.#nextRound(ring);
    }
  }

  /** What `peek` would answer for a ring without newcomers first; this changes nothing. */
  first(ring: number): number {
    const head = this.#roundHead(ring);
    if (head !== 0 || this.sizeOf(ring) === 0) return head;
    const m = this.rings.i;
    const r = ring * RING_INTS;
    const step = this.#roundsToNext(ring);
    const near = m[r + LISTS + 2 * ((m[r + CURSOR]! + step) & (NEAR - 1))]!;
    return step < NEAR && near !== 0 ? near : this.#far[m[r + FAR_HEAP]!]!.peek();
  }

  /** Those that came from far rounds joined the round before any that came from near. */
  #roundHead(ring: number): number {
    const m = this.rings.i;
    const r = ring * RING_INTS;
    if (m[r + FAR_HEAP] !== 0) {
      const far = this.#far[m[r + FAR_HEAP]!]!;
      if (far.round() <= this.roundOf(ring)) return far.peek();
    }
    return m[r + LISTS + 2 * m[r + CURSOR]!]!;
  }

  #nextRound(ring: number): void {
    const m = this.rings.i;
    const r = ring * RING_INTS;
    // To leap over rounds would take from waiting newcomers what the others have had already.
    const step = m[r + FRESH_HEAD] === 0 ? this.#roundsToNext(ring) : 1;
    this.rings.f[ring * (RING_INTS / 2) + R]! += step;
    m[r + CURSOR] = (m[r + CURSOR]! + step) & (NEAR - 1);
    m[r + ENDED] = 0;
    m[r + LAST_WAS_FRESH] = 0; // They are first in this one.
    m[r + JOINS] = Math.max(JOINS_LEAST, m[r + SIZE]!);
  }

  /** How far away the next round with members is; there is one. */
  #roundsToNext(ring: number): number {
    const m = this.rings.i;
    const r = ring * RING_INTS;
    const ahead = (this.#far[m[r + FAR_HEAP]!]?.round() ?? Infinity) - this.roundOf(ring);
    for (let step = 1; step < NEAR && step < ahead; step++) {
      if (m[r + LISTS + 2 * ((m[r + CURSOR]! + step) & (NEAR - 1))] !== 0) return step;
    }
    return ahead;
  }

  /** The leaf to serve next, following owners down to a lane or a strand. */
  leaf(ring: number): number {
    let node = this.peek(ring);
    while (node !== 0) {
      const child = this.childOf(node);
      if (child === 0) return node;
      node = this.peek(child);
    }
    return 0;
  }

  /** The ring that a node owns; 0 for lanes and strands, whose field of that number is another. */
  childOf(node: number): number {
    const c = this.nodes.i;
    const o = node * NODE_INTS;
    const kind = c[o + 8]!;
    return kind === 1 || kind === 3 ? 0 : c[o + CHILD]!;
  }

  /** Serves a member a job of this cost, and charges every owner above it. */
  charge(node: number, cost: number): void {
    let at = node;
    while (at !== 0) {
      const ring = this.nodes.i[at * NODE_INTS + RING]!;
      if (ring === 0) return;
      this.#serve(ring, at, cost);
      at = this.#get(ring, OWNER);
    }
  }

  /**
   * A replay serves a member of a later round because it was served then. The rounds before it are
   * over, and members that are left of them lag in the list of this one.
   */
  #leap(ring: number, round: number): void {
    const m = this.rings.i;
    const r = ring * RING_INTS;
    const f = this.rings.f;
    const d = ring * RING_DOUBLES + R;
    for (let i = 0; i < NEAR && f[d]! < round; i++) {
      const from = r + LISTS + 2 * m[r + CURSOR]!;
      m[r + CURSOR] = (m[r + CURSOR]! + 1) & (NEAR - 1);
      f[d]!++;
      prepend(m, this.nodes.i, from, r + LISTS + 2 * m[r + CURSOR]!);
    }
    f[d] = Math.max(f[d]!, round);
    m[r + ENDED] = 0;
    m[r + CLOSER] = 0;
  }

  /** The same, but for the topmost ring: with one member it has nothing to decide. */
  chargeBelowRoot(node: number, cost: number): void {
    let at = node;
    for (;;) {
      const ring = this.nodes.i[at * NODE_INTS + RING]!;
      const owner = this.#get(ring, OWNER);
      if (owner === 0) return;
      this.#serve(ring, at, cost);
      at = owner;
    }
  }

  #serve(ring: number, node: number, cost: number): void {
    const where = this.nodes.i[node * NODE_INTS + WHERE]!;
    if (where === OUT || where === IDLE) return this.#serveAbsent(ring, node, cost);
    const before = this.nodes.f[node * NODE_DOUBLES + ROUND]!;
    if (before > this.roundOf(ring)) this.#leap(ring, before);
    this.#unlist(ring, node);
    this.rings.i[ring * RING_INTS + LAST_WAS_FRESH] = where === FRESH ? 1 : 0;
    this.#list(ring, node, this.#advance(ring, node, cost, where === FRESH));
  }

  #serveAbsent(ring: number, node: number, cost: number): void {
    const m = this.rings.i;
    const r = ring * RING_INTS;
    m[r + LAST_WAS_FRESH] = 0;
    const round = this.#advance(ring, node, cost, false);
    if (m[r + NEWCOMERS_FIRST] === 0 && m[r + SIZE] === 0) this.#pull(ring, node, round);
  }

  /** Moves the position of a member that is served; answers its round. */
  #advance(ring: number, node: number, cost: number, isFresh: boolean): number {
    const c = this.nodes.i;
    const o = node * NODE_INTS;
    const f = this.nodes.f;
    const k = node * NODE_DOUBLES + ROUND;
    const current = this.rings.f[ring * RING_DOUBLES + R]!;
    let round = f[k]!;
    if (round < current) {
      round = isFresh ? this.#join(this.rings.i, ring * RING_INTS, current) : current;
      c[o + REM] = 0;
    }
    const weight = c[o + WEIGHT]!;
    const used = c[o + REM]! + cost;
    if (used >= weight) {
      const turns = weight === 1 ? used : (used / weight) | 0;
      round += turns;
      c[o + REM] = used - turns * weight;
      this.#reach(ring, round + 1);
    } else c[o + REM] = used;
    f[k] = round;
    return round;
  }

  /**
   * The round that a newcomer joins: this one, as long as it takes newcomers in. One that comes too
   * late gets its first job all the same, as an advance on the next round.
   */
  #join(m: Int32Array, r: number, round: number): number {
    if (m[r + JOINS] === UNSET) m[r + JOINS] = Math.max(JOINS_LEAST, m[r + SIZE]!);
    if (m[r + JOINS] === 0) return round + 1;
    m[r + JOINS]!--;
    return round;
  }

  #reach(ring: number, round: number): void {
    const f = this.rings.f;
    const d = ring * RING_DOUBLES + BEYOND;
    if (f[d]! < round) f[d] = round;
  }

  /**
   * A member that is served while the line is empty pulls the round up to one turn behind it. When
   * a line forms, the ring remembers this lead and no more.
   */
  #pull(ring: number, node: number, round: number): void {
    const least = this.nodes.i[node * NODE_INTS + REM] === 0 ? round - 1 : round;
    const m = this.rings.i;
    const r = ring * RING_INTS;
    const f = this.rings.f;
    const d = ring * RING_DOUBLES + R;
    if (least > f[d]!) {
      // Nearly always 1; a remainder of doubles would cost more than all the rest.
      const step = least - f[d]! === 1 ? 1 : (least - f[d]!) % NEAR;
      m[r + CURSOR] = (m[r + CURSOR]! + step) & (NEAR - 1);
      f[d] = least;
    }
  }

  /**
   * Changes a member's weight and rescales what it has used of its turn, rounded up: changing it to
   * and fro earns nothing. A turn that is used up by this ends with the next job.
   */
  setWeight(node: number, weight: number): void {
    const c = this.nodes.i;
    const o = node * NODE_INTS;
    const old = c[o + WEIGHT]!;
    if (old === weight) return;
    c[o + WEIGHT] = weight;
    if (c[o + REM] !== 0) c[o + REM] = Math.ceil((c[o + REM]! * weight) / old);
  }

  /** Puts a member where it stood: so many rounds ahead of its ring's, and so far into its turn. */
  restore(node: number, rounds: number, rem: number): void {
    const c = this.nodes.i;
    const o = node * NODE_INTS;
    const where = c[o + WHERE]!;
    const ring = c[o + RING]!;
    const listed = where !== OUT && where !== IDLE;
    if (listed) {
      this.#unlist(ring, node);
      this.rings.i[ring * RING_INTS + SIZE]!--;
    }
    const round = this.roundOf(ring) + rounds;
    this.nodes.f[node * NODE_DOUBLES + ROUND] = round;
    c[o + REM] = Math.min(rem, c[o + WEIGHT]! - 1);
    this.#reach(ring, round + 1);
    if (listed) this.#enter(ring, node);
  }

  /** How far a member is ahead of its ring's round; negative when it lags. */
  roundsAhead(node: number): number {
    const ring = this.nodes.i[node * NODE_INTS + RING]!;
    const round = this.nodes.f[node * NODE_DOUBLES + ROUND]!;
    return round - this.roundOf(ring);
  }

  /** True when the ring would treat the node like one it never saw. */
  isForgettable(node: number): boolean {
    const c = this.nodes.i;
    const o = node * NODE_INTS;
    const round = this.nodes.f[node * NODE_DOUBLES + ROUND]!;
    const current = this.roundOf(c[o + RING]!);
    return round < current || (round === current && c[o + REM] === 0);
  }

  /** Remembers an inactive node until `expired` hands it out to be forgotten. */
  linkIdle(node: number): void {
    this.#idle.link(node);
  }

  unlinkIdle(node: number): void {
    this.#idle.unlink(node);
  }

  /** The longest idle node if it can be forgotten, else 0. */
  expired(ring: number): number {
    const node = this.#idle.first(ring);
    return node !== 0 && this.isForgettable(node) ? node : 0;
  }
}
