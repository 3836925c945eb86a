import type { Core } from "../core.ts";
import { checkInteger } from "../errors.ts";
import type { GateLine } from "../gates/gate-line.ts";

import type { LotUse, Want } from "./ledger.ts";
import type { BorrowerWord } from "./lender.ts";
import type { NewLot } from "./stock.ts";

/**
 * The gates that this engine borrows from their homes: what to ask for, what to say of lots, and
 * what is lent. Nothing of it is a fact: the jobs that went out are, and after a restart the home
 * hears how many of them run, and lets the rest expire.
 */
export class Borrower {
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  /** Whether anything may have to be said. */
  get hasNews(): boolean {
    return this.#core.gates.noted.size > 0;
  }

  /** Gates of which something has changed since this was last asked. */
  takeNoted(): string[] {
    const { noted } = this.#core.gates;
    const keys = [...noted].map(({ key }) => key);
    noted.clear();
    return keys;
  }

  /** All borrowed gates with something to report, for a home that has forgotten them. */
  all(): string[] {
    const keys: string[] = [];
    for (const gate of this.#core.gates.all()) {
      const { stock } = gate;
      if (stock === undefined) continue;
      const isQuiet = stock.isEmpty && stock.missing === undefined && gate.inFlight === 0;
      if (!isQuiet) keys.push(gate.key);
    }
    return keys;
  }

  /**
   * What to report of a gate now. It includes the lots that are over: the caller must report them.
   * `mustBeDurable`: it must not be sent before everything that has happened so far is durable.
   */
  wordOf(key: string, now: number): BorrowerWord & { mustBeDurable: boolean } {
    const core = this.#core;
    const at = core.clock(now);
    const gate = core.gates.find(key);
    const stock = gate?.stock;
    // The engine may have forgotten the gate since its last job ended. That end counts like any
    // other: the home must not free the place before it is durable.
    if (gate === undefined || stock === undefined) {
      return { gate: key, held: 0, uses: [], mustBeDurable: true };
    }
    if (gate.wanted === 0 || gate.cooldownUntil > at || gate.config === undefined) stock.giveBack();
    stock.expire(at);
    const uses: LotUse[] = [...stock.uses(), ...stock.takeOver()];
    const mustBeDurable = gate.places !== Number.POSITIVE_INFINITY;
    core.gates.noted.delete(gate);
    return { gate: key, held: gate.inFlight, uses, want: wantOf(core, gate), mustBeDurable };
  }

  /** The home has lent a lot. */
  grant(key: string, lot: NewLot, now: number): void {
    const core = this.#core;
    const at = core.clock(now);
    const gate = core.gates.gateOf(key, at);
    if (gate.stock === undefined) return;
    checkInteger("lot", lot.lot, 1, Number.MAX_SAFE_INTEGER);
    checkInteger("cost", lot.cost, 1, Number.MAX_SAFE_INTEGER);
    checkInteger("jobs", lot.jobs, 1, Number.MAX_SAFE_INTEGER);
    if (gate.stock.lots.some((each) => each.lot === lot.lot)) return;
    gate.stock.add(lot, gate.spacing(lot.tier));
    core.lines.look(gate);
    core.lines.settle(at);
  }
}

/** What is missing for those who wait; more of it when workers could take more. */
function wantOf(core: Core, gate: GateLine): Want | undefined {
  const { missing, jobsNext } = gate.stock!;
  if (missing === undefined) return undefined;
  const jobs = Math.max(1, Math.min(gate.wanted, Math.max(jobsNext, demandAt(core, gate))));
  const cost = Math.max(missing.cost, Math.min(gate.wanted, jobs * missing.unit));
  const weight = Math.max(1, gate.inLine);
  return { cost, jobs, least: missing.cost, tier: missing.tier, weight };
}

/** Jobs that the workers would take whose queues wait at a gate. */
function demandAt(core: Core, gate: GateLine): number {
  const queues = new Set([...gate.entries.keys()].map((entry) => Math.floor(entry / 64)));
  let demand = 0;
  for (const index of queues) demand += core.queues[index]?.demand ?? 0;
  return demand;
}
