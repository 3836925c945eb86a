import type { Core } from "../core.ts";
import { checkInteger } from "../errors.ts";
import type { Fact } from "../facts/facts.ts";
import type { GateLine } from "../gates/gate-line.ts";
import { SLOTS_MAX, TIERS_MAX } from "../limits.ts";
import type { GateNews } from "./ledger.ts";
import { type LentLot, LotLedger, type LotUse, newLot, type Want } from "./ledger.ts";
import { hearNews } from "./news.ts";

/** What a borrower says of one gate. */
export interface BorrowerWord {
  readonly gate: string;
  /** How many jobs of the gate it runs. */
  readonly held: number;
  readonly uses: readonly LotUse[];
  readonly want?: Want | undefined;
}

/**
 * The gates whose home this engine is, for partitions that borrow of them. Wants are kept in memory
 * only, and each is good for one lot; what is lent, and what borrowers say of it, are facts.
 */
export class Lender {
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  /** Which life of this engine it is; 0: it has not begun. */
  get life(): number {
    return this.#core.life;
  }

  /** A process takes the engine up, after all facts are applied. */
  begin(now: number): void {
    const core = this.#core;
    const at = core.clock(now);
    core.life++;
    core.tell({ at, fact: "life", life: core.life, lot: core.lastLot });
    for (const gate of core.gates.lenders) {
      gate.renewLots(at);
      core.lines.look(gate);
    }
    core.lines.settle(at);
  }

  /** The life of a borrower that was heard last; 0: it was never heard. */
  lifeOf(borrower: string): number {
    return this.#core.borrowers.get(borrower) ?? 0;
  }

  /**
   * A borrower has begun a new life, and says all that it knows. Nothing is lent before it is heard
   * to the end: what it had may be running still.
   */
  meet(borrower: string, life: number, words: readonly BorrowerWord[], now: number): void {
    const core = this.#core;
    const at = core.clock(now);
    checkInteger("life", life, this.lifeOf(borrower) + 1, Number.MAX_SAFE_INTEGER);
    meet(core, borrower, life);
    core.tell({ at, fact: "borrower", name: borrower, life });
    for (const word of words) this.#note(borrower, word, at);
    core.lines.settle(at);
  }

  /** A borrower has said of all gates what it runs: of those that are not among these, nothing. */
  keepOnly(borrower: string, gates: ReadonlySet<string>, now: number): void {
    for (const { key, lending } of this.#core.gates.lenders) {
      if (gates.has(key) || !lending!.held.has(borrower)) continue;
      this.hear(borrower, { gate: key, held: 0, uses: [] }, now);
    }
  }

  /** What a borrower says of a gate; a want takes the place of the one before. */
  hear(borrower: string, word: BorrowerWord, now: number): void {
    const core = this.#core;
    const at = core.clock(now);
    this.#note(borrower, word, at);
    core.lines.settle(at);
  }

  #note(borrower: string, word: BorrowerWord, at: number): void {
    const core = this.#core;
    const gate = core.gates.gateOf(word.gate, at);
    checkWord(word);
    if (isNew(gate, borrower, word)) {
      const { held, uses } = word;
      hear(core, gate, borrower, held, uses, at);
      core.tell({ at, fact: "lots", key: gate.key, borrower, held, uses });
    }
    this.#setWant(gate, borrower, word.want);
    core.lines.look(gate);
  }

  #setWant(gate: GateLine, borrower: string, want: Want | undefined): void {
    if (want === undefined && gate.lending === undefined) return;
    gate.lending ??= new LotLedger();
    this.#core.gates.lenders.add(gate);
    gate.lending.setWant(borrower, want);
  }

  /** A borrower is not heard of any more: it gets no lots until it asks again. */
  dropWants(borrower: string, now: number): void {
    const core = this.#core;
    const at = core.clock(now);
    for (const gate of core.gates.lenders) {
      if (!gate.lending!.wants.has(borrower)) continue;
      gate.lending!.setWant(borrower, undefined);
      core.lines.look(gate);
    }
    core.lines.settle(at);
  }

  /** Lots that were lent since this was last asked. */
  takeLots(): LentLot[] {
    return this.#core.lent.splice(0);
  }

  /** Lots of a borrower that have expired and of which it has not said what became of them. */
  missingLots(borrower: string): { gate: string; lot: number }[] {
    const missing: { gate: string; lot: number }[] = [];
    for (const gate of this.#core.gates.lenders) {
      for (const lot of gate.lending!.lots.values()) {
        if (lot.borrower === borrower && lot.isExpired)
          missing.push({ gate: gate.key, lot: lot.id });
      }
    }
    return missing;
  }

  /** Whether a borrower has lots out, or wants some. */
  isDealingWith(borrower: string): boolean {
    for (const { lending } of this.#core.gates.lenders) {
      if (lending!.wants.has(borrower)) return true;
      for (const lot of lending!.lots.values()) if (lot.borrower === borrower) return true;
    }
    return false;
  }

  /** What this partition has learned of gates and the others have not. */
  takeNews(): GateNews[] {
    return this.#core.gateNews.splice(0);
  }

  hearNews(news: GateNews, now: number): void {
    const at = this.#core.clock(now);
    hearNews(this.#core, news, at);
    this.#core.lines.settle(at);
  }
}

function checkWord({ held, uses, want }: BorrowerWord): void {
  checkInteger("held", held, 0, SLOTS_MAX);
  for (const { lot, usedCost, usedJobs } of uses) {
    checkInteger("lot", lot, 1, Number.MAX_SAFE_INTEGER);
    checkInteger("usedCost", usedCost, 0, Number.MAX_SAFE_INTEGER);
    checkInteger("usedJobs", usedJobs, 0, Number.MAX_SAFE_INTEGER);
  }
  if (want === undefined) return;
  checkInteger("want.least", want.least, 1, Number.MAX_SAFE_INTEGER);
  checkInteger("want.cost", want.cost, want.least, Number.MAX_SAFE_INTEGER);
  checkInteger("want.jobs", want.jobs, 1, Number.MAX_SAFE_INTEGER);
  checkInteger("want.tier", want.tier, 0, TIERS_MAX - 1);
  checkInteger("want.weight", want.weight, 1, Number.MAX_SAFE_INTEGER);
}

/** Whether a word says anything that is not known. */
function isNew(gate: GateLine, borrower: string, { held, uses }: BorrowerWord): boolean {
  if ((gate.lending?.held.get(borrower) ?? 0) !== held) return true;
  return uses.some(({ lot, usedCost, usedJobs, isOver }) => {
    const known = gate.lending?.lots.get(lot);
    if (known === undefined || known.borrower !== borrower) return false;
    return isOver || usedCost > known.usedCost || usedJobs > known.usedJobs;
  });
}

function meet(core: Core, borrower: string, life: number): void {
  core.borrowers.set(borrower, life);
  for (const gate of core.gates.lenders) {
    gate.forgetBorrower(borrower);
    core.lines.look(gate);
  }
}

function hear(
  core: Core,
  gate: GateLine,
  borrower: string,
  held: number,
  uses: readonly LotUse[],
  now: number,
): void {
  gate.hear(borrower, held, uses, now);
  core.gates.lenders.add(gate);
}

type LendingFact = Extract<Fact, { fact: "life" | "borrower" | "lent" | "lots" | "lot-expired" }>;

export function applyLending(core: Core, fact: LendingFact, now: number): void {
  if (fact.fact === "life") {
    core.life = Math.max(core.life, fact.life);
    core.lastLot = Math.max(core.lastLot, fact.lot);
    return;
  }
  if (fact.fact === "borrower") {
    if (fact.life > (core.borrowers.get(fact.name) ?? 0)) meet(core, fact.name, fact.life);
    return;
  }
  const gate = core.gates.gateOf(fact.key, now);
  if (fact.fact === "lots") hear(core, gate, fact.borrower, fact.held, fact.uses, now);
  else if (fact.fact === "lent") {
    core.lastLot = Math.max(core.lastLot, fact.lot);
    const { lot, borrower, cost, jobs, until } = fact;
    core.gates.lendFrom(gate, newLot(lot, borrower, cost, jobs, until), now);
  } else {
    const lot = gate.lending?.lots.get(fact.lot);
    if (lot !== undefined) gate.expire(lot, now);
  }
}
