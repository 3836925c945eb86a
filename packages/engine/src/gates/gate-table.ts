import type { Lot } from "../lending/ledger.ts";
import { Stock } from "../lending/stock.ts";
import { KeyTable } from "../tables/keys.ts";
import { Table } from "../tables/table.ts";
import { Timers } from "../tables/timers.ts";
import { GateLine, type GateSet } from "./gate-line.ts";
import { GatePatterns } from "./gate-patterns.ts";
import type { GateConfig } from "./gate-state.ts";

/** Idle gates looked at for each gated job that is added, and in each tick. */
const SWEEP = 2;
const SWEEP_PER_TICK = 16;

function newSet(id: number, gates: readonly GateLine[], entry: number): GateSet {
  const keys = Object.freeze(gates.map(({ key }) => key).sort());
  return { id, gates, keys, entry, users: id === 0 ? 1 : 0 };
}

/** All gates, by key; the sets of gates that jobs name; the timers of those that will open. */
export class GateTable {
  readonly patterns = new GatePatterns();
  readonly #keys: KeyTable;
  readonly #setKeys = new KeyTable();
  readonly #rows = new Table(2);
  readonly wakes = new Timers(this.#rows, 1);
  readonly #gates: (GateLine | undefined)[] = [undefined];
  readonly #sets: (GateSet | undefined)[] = [newSet(0, [], 0)];
  readonly #freeSets: number[] = [];
  #idleHead: GateLine | undefined = undefined;
  #idleTail: GateLine | undefined = undefined;
  /** A set that was made for a job which may have been refused since. */
  #loose: GateSet | undefined = undefined;
  #lastName = "";
  #lastGate: GateLine | undefined = undefined;
  /** Gates that lend, or have lent. */
  readonly lenders = new Set<GateLine>();
  /** Borrowed gates of which something has changed since it was last asked. */
  readonly noted = new Set<GateLine>();
  readonly #isBorrowed: (key: string) => boolean;

  constructor(seed: number, isBorrowed: (key: string) => boolean = () => false) {
    this.#keys = new KeyTable(seed);
    this.#isBorrowed = isBorrowed;
  }

  find(key: string): GateLine | undefined {
    const entry = this.#keys.find(0, key);
    return entry === 0 ? undefined : this.#gates[this.#keys.valueOf(entry)];
  }

  /** The gate of a key, made open or as its pattern says when it is not there. */
  gateOf(key: string, now: number): GateLine {
    if (key === this.#lastName && this.#lastGate !== undefined) return this.#lastGate;
    return this.#findOrMake(key, now);
  }

  #findOrMake(key: string, now: number): GateLine {
    const gate = this.find(key) ?? this.#make(key, now);
    this.#lastName = key;
    this.#lastGate = gate;
    return gate;
  }

  /** The gate of a key, for reading only. If there is none, a new one that is not kept. */
  viewOf(key: string, now: number): GateLine {
    const known = this.find(key);
    if (known !== undefined) return known;
    const gate = new GateLine(key, 0);
    this.configure(gate, now);
    return gate;
  }

  #make(key: string, now: number): GateLine {
    const row = this.#rows.alloc();
    const gate = new GateLine(key, row);
    this.#gates[row] = gate;
    if (this.#isBorrowed(key)) gate.stock = new Stock(() => this.noted.add(gate));
    this.#keys.setValue(this.#keys.intern(0, key), row);
    this.configure(gate, now);
    this.#retire(gate);
    return gate;
  }

  /** Gives a gate the limits that its key or the longest pattern sets now. */
  configure(gate: GateLine, now: number): void {
    const match = this.patterns.match(gate.key);
    gate.pattern = match?.pattern;
    gate.configure(match?.config, now);
  }

  at(row: number): GateLine {
    return this.#gates[row]!;
  }

  *all(): Generator<GateLine> {
    for (const gate of this.#gates) if (gate !== undefined) yield gate;
  }

  /** Gates by row, for walks that are spread over several calls. */
  get rowEnd(): number {
    return this.#gates.length;
  }

  atOrNone(row: number): GateLine | undefined {
    return this.#gates[row];
  }

  lendFrom(gate: GateLine, lot: Lot, now: number): void {
    gate.lend(lot, now);
    this.lenders.add(gate);
  }

  wakeAt(gate: GateLine, opensAt: number): void {
    const isAlone = gate.lending === undefined && gate.stock === undefined;
    let time = isAlone ? opensAt : Math.min(opensAt, gate.lotsExpireAt());
    if (gate.resting !== undefined) time = Math.min(time, gate.restsUntil());
    if (time === Number.POSITIVE_INFINITY) this.noWake(gate);
    else if (this.wakes.has(gate.row)) this.wakes.move(gate.row, time);
    else this.wakes.add(gate.row, time, gate.row);
  }

  noWake(gate: GateLine): void {
    if (this.wakes.has(gate.row)) this.wakes.remove(gate.row);
  }

  /** Counts what waiting jobs of a set will take. */
  addWanted(id: number, cost: number): void {
    const { gates } = this.#sets[id]!;
    for (let i = 0; i < gates.length; i++) gates[i]!.wanted += cost;
  }

  /** A job of the set is leased. */
  noteHolder(id: number, row: number): void {
    const { gates } = this.#sets[id]!;
    for (let i = 0; i < gates.length; i++) gates[i]!.lastHolder = row;
  }

  set(id: number): GateSet {
    return this.#sets[id]!;
  }

  /** The set of these gates. The order of the names and doubles among them do not matter. */
  setOf(keys: readonly string[] | undefined, now: number): GateSet {
    if (keys === undefined || keys.length === 0) return this.#sets[0]!;
    // Before the first gate is looked up: one that has just been made has no users yet.
    if (this.#loose !== undefined) this.#dropLoose(this.#loose);
    if (this.#idleHead !== undefined) this.#sweep(SWEEP, now);
    const first = this.gateOf(keys[0]!, now);
    return keys.length === 1 ? this.soloOf(first) : this.#setOfMany(first, keys, now);
  }

  #setOfMany(first: GateLine, keys: readonly string[], now: number): GateSet {
    const gates = new Set([first]);
    for (let i = 1; i < keys.length; i++) gates.add(this.gateOf(keys[i]!, now));
    if (gates.size === 1) return this.soloOf(first);
    const sorted = [...gates].sort((a, b) => a.row - b.row);
    const entry = this.#setKeys.intern(0, sorted.map((gate) => gate.row).join());
    const known = this.#setKeys.valueOf(entry);
    if (known !== 0) return this.#sets[known]!;
    this.#loose = this.#makeSet(sorted, entry);
    return this.#loose;
  }

  #dropLoose(set: GateSet): void {
    this.#loose = undefined;
    if (set.users === 0) this.#dropSet(set);
  }

  soloOf(gate: GateLine): GateSet {
    gate.solo ??= this.#makeSet([gate], 0);
    return gate.solo;
  }

  #makeSet(gates: readonly GateLine[], entry: number): GateSet {
    const id = this.#freeSets.pop() ?? this.#sets.length;
    const set = newSet(id, gates, entry);
    this.#sets[id] = set;
    if (entry !== 0) {
      this.#setKeys.setValue(entry, id);
      for (const gate of gates) gate.users++;
    }
    return set;
  }

  /** A strand uses the set. A gate is used by its own set with strands, and by every other set. */
  use(set: GateSet): void {
    set.users++;
    if (set.users === 1 && set.entry === 0) for (const gate of set.gates) gate.users++;
  }

  /**
   * A strand is gone. A set of several gates without strands is dropped; a gate without sets is
   * idle.
   */
  unuse(set: GateSet): void {
    set.users--;
    if (set.users > 0) return;
    if (set.entry === 0) this.#unuseGates(set);
    else this.#dropSet(set);
  }

  #dropSet(set: GateSet): void {
    if (this.#loose === set) this.#loose = undefined;
    this.#unuseGates(set);
    this.#setKeys.remove(set.entry);
    this.#sets[set.id] = undefined;
    this.#freeSets.push(set.id);
  }

  #unuseGates(set: GateSet): void {
    for (const gate of set.gates) {
      gate.users--;
      if (gate.users === 0) this.#retire(gate);
    }
  }

  #retire(gate: GateLine): void {
    if (gate.isIdle) return;
    gate.isIdle = true;
    if (this.#idleTail === undefined) this.#idleHead = gate;
    else this.#idleTail.nextIdle = gate;
    this.#idleTail = gate;
  }

  /** Gives back the memory of some gates that no job names and that remember nothing. */
  sweep(now: number): void {
    if (this.#loose !== undefined) this.#dropLoose(this.#loose);
    this.#sweep(SWEEP_PER_TICK, now);
  }

  #sweep(most: number, now: number): void {
    for (let i = 0; i < most; i++) {
      const gate = this.#idleHead;
      if (gate === undefined) return;
      if (gate.users === 0 && !gate.pristine(now)) return;
      this.#idleHead = gate.nextIdle;
      if (this.#idleHead === undefined) this.#idleTail = undefined;
      gate.nextIdle = undefined;
      gate.isIdle = false;
      if (gate.users === 0) this.#forget(gate);
    }
  }

  #forget(gate: GateLine): void {
    gate.isForgotten = true;
    this.noWake(gate);
    this.lenders.delete(gate);
    if (gate.solo !== undefined) {
      this.#sets[gate.solo.id] = undefined;
      this.#freeSets.push(gate.solo.id);
    }
    this.#keys.remove(this.#keys.find(0, gate.key));
    this.#gates[gate.row] = undefined;
    this.#rows.free(gate.row);
    if (this.#lastGate === gate) this.#lastGate = undefined;
    this.forgotten(gate);
  }

  /** What else hangs on a gate that is forgotten; set by the lines. */
  forgotten!: (gate: GateLine) => void;

  setConfig(pattern: string, config: GateConfig | undefined): void {
    if (config === undefined) this.patterns.delete(pattern);
    else this.patterns.set(pattern, config);
  }
}
