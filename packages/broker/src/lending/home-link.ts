import type { BorrowerWord, Engine, GateNews, LotUse, Want } from "@sluice/engine";
import type { Clock, Timer } from "@sluice/protocol";
import type { Journal } from "../journal.ts";
import { LEND_ANSWER_MS, LEND_HOLD_MS, LEND_RETRY_MS } from "../limits.ts";
import type { Homes, LendAnswer, LendRequest } from "./port.ts";

export interface SharingParts {
  readonly engine: Engine;
  readonly journal: Journal;
  readonly clock: Clock;
  readonly homes: Homes;
  wake(): void;
}

/** Calls on their way at once: one waits at the home while the next brings what is new. */
const CALLS_MAX = 2;

/** What to send to a home about a gate. */
interface Entry {
  /** There is something to send that no call has sent yet. */
  isDue: boolean;
  /** The latest call that included it. */
  seq: number;
  /** Lots that are over, until the home has answered a call that reported them. */
  readonly over: Map<number, LotUse>;
  /** What was sent last. */
  want: Want | undefined;
  balance: number;
}

interface LendCall {
  readonly seq: number;
  readonly askedAt: number;
  readonly gates: readonly string[];
  readonly over: readonly (readonly [string, number])[];
  readonly news: readonly GateNews[];
  readonly isPressing: boolean;
  readonly done: PromiseWithResolvers<void>;
  isOver: boolean;
}

/**
 * The exchange with one home. All changes are noted. A call is made when there is something to send
 * or to receive. If a call is answered, its content counts as sent; else the next call repeats it.
 *
 *   quiet     nothing to say, and the home has nothing to say: no call is on its way
 *   dealing   lots are out or wanted: one call is always on its way, and waits at the home
 *   failed    the last call was not answered, or not taken in: after a while all is sent again
 */
export class HomeLink {
  readonly #w: SharingParts;
  readonly #home: string;
  readonly #entries = new Map<string, Entry>();
  #news: GateNews[] = [];
  #homeLife = 0;
  #seq = 0;
  #isAll = false;
  #isDealing = false;
  /** The latest answer said that nothing was taken in. */
  #isUnheard = false;
  /** A call is being made, and waits for its words to be durable. */
  #isMaking = false;
  readonly #calls = new Set<LendCall>();
  #retry: Timer | undefined;
  /** A poll waits: the home must answer requests from now on at once. */
  isPressing = false;
  #isStopped = false;

  constructor(world: SharingParts, home: string) {
    this.#w = world;
    this.#home = home;
  }

  begin(): void {
    this.#isAll = true;
  }

  note(gate: string): void {
    const entry = this.#entryOf(gate);
    const word = this.#wordOf(gate, entry);
    entry.isDue ||= isWorth(word, entry);
    if (!entry.isDue && isIdle(entry, word)) this.#entries.delete(gate);
  }

  tell(news: GateNews): void {
    this.#news.push(news);
  }

  #entryOf(gate: string): Entry {
    let entry = this.#entries.get(gate);
    if (entry === undefined) {
      entry = { isDue: false, seq: 0, over: new Map(), want: undefined, balance: 0 };
      this.#entries.set(gate, entry);
    }
    return entry;
  }

  /** How things stand with a gate; lots that are over are kept until the home has heard of them. */
  #wordOf(gate: string, entry: Entry): BorrowerWord & { mustBeDurable: boolean } {
    const { engine, clock } = this.#w;
    const word = engine.borrower.wordOf(gate, clock.now());
    for (const use of word.uses) if (use.isOver) entry.over.set(use.lot, use);
    return {
      ...word,
      uses: [...word.uses.filter(({ isOver }) => !isOver), ...entry.over.values()],
    };
  }

  /** Makes a call if there is a reason for one. */
  look(): void {
    if (this.#isStopped || this.#isMaking || this.#retry !== undefined) return;
    if (this.#calls.size >= CALLS_MAX) return;
    const isDue = this.#isAll || this.#news.length > 0 || this.#hasDue();
    // One that has nothing to say waits at the home for what there will be.
    if (isDue) void this.#make(this.isPressing);
    else if (this.#isDealing && this.#calls.size === 0) void this.#make(false);
  }

  /** Resolves when a call for a poll was answered, or one after which it can be made. */
  pressed(): Promise<void> | undefined {
    const calls = [...this.#calls];
    const pressing = calls.filter(({ isPressing }) => isPressing);
    if (pressing.length > 0) return Promise.race(pressing.map(({ done }) => done.promise));
    if (calls.length < CALLS_MAX || !(this.#isAll || this.#hasDue())) return undefined;
    return Promise.race(calls.map(({ done }) => done.promise));
  }

  #hasDue(): boolean {
    for (const { isDue } of this.#entries.values()) if (isDue) return true;
    return false;
  }

  #hasWant(): boolean {
    for (const { want, isDue, seq } of this.#entries.values()) {
      if (want !== undefined && !isDue && seq === 0) return true;
    }
    return false;
  }

  async #make(isPressing: boolean): Promise<void> {
    const { clock, homes, journal } = this.#w;
    const askedAt = clock.now();
    const seq = ++this.#seq;
    const isAll = this.#isAll;
    const words = this.#words(seq, isAll);
    const news = this.#news;
    this.#news = [];
    this.#isAll = false;
    const over = words.flatMap(({ gate, uses }) =>
      uses.filter(({ isOver }) => isOver).map(({ lot }) => [gate, lot] as const),
    );
    const call: LendCall = {
      seq,
      askedAt,
      gates: words.map(({ gate }) => gate),
      over,
      news,
      isPressing,
      done: Promise.withResolvers<void>(),
      isOver: false,
    };
    this.#calls.add(call);
    const timer = clock.at(askedAt + LEND_ANSWER_MS, () => this.#failed(call, isAll));
    timer.unref?.();
    const { name: borrower } = homes;
    const { life } = this.#w.engine.lender;
    const said = words.map(({ mustBeDurable: _, ...word }) => word);
    const request: LendRequest = {
      borrower,
      life,
      homeLife: this.#homeLife,
      seq,
      isAll,
      isPressing,
      words: said,
      news,
    };
    try {
      // An end that is not durable may not have been: the job would run on after a restart.
      this.#isMaking = words.some(({ mustBeDurable }) => mustBeDurable) || isAll;
      if (this.#isMaking) await journal.durable();
      this.#isMaking = false;
      const answer = await homes.lend(this.#home, request);
      timer.cancel();
      this.#answered(call, answer, isAll);
    } catch {
      this.#isMaking = false;
      timer.cancel();
      this.#failed(call, isAll);
    }
  }

  /** What to send: what is due, and what calls without an answer yet have sent. */
  #words(seq: number, isAll: boolean): (BorrowerWord & { mustBeDurable: boolean })[] {
    const { engine, homes } = this.#w;
    const gates = new Set<string>();
    for (const [gate, entry] of this.#entries) if (entry.isDue || entry.seq > 0) gates.add(gate);
    if (isAll) {
      for (const gate of engine.borrower.all()) {
        if (homes.homeOf(gate) === this.#home) gates.add(gate);
      }
    }
    return [...gates].map((gate) => {
      const entry = this.#entryOf(gate);
      const word = this.#wordOf(gate, entry);
      entry.isDue = false;
      entry.seq = seq;
      entry.want = word.want;
      entry.balance = balanceOf(word);
      return word;
    });
  }

  #answered(call: LendCall, answer: LendAnswer, isAll: boolean): void {
    if (this.#isStopped) return;
    const isLate = call.isOver;
    this.#grant(call, answer);
    if (answer.life > this.#homeLife) {
      this.#isAll = true;
      this.#homeLife = answer.life;
    }
    if (!answer.isHeard) {
      this.#isAll = true;
      // A home that has forgotten us hears all at once; one that still does not, after a while.
      const afterMs = isLate || this.#isUnheard ? LEND_RETRY_MS : 0;
      this.#isUnheard = true;
      return this.#failed(call, isAll, afterMs);
    }
    this.#isUnheard = false;
    this.#close(call);
    for (const [gate, lot] of call.over) this.#entries.get(gate)?.over.delete(lot);
    for (const gate of call.gates) {
      const entry = this.#entries.get(gate);
      if (entry?.seq === call.seq) entry.seq = 0;
    }
    for (const { gate, lot } of answer.missing) this.#missed(gate, lot);
    this.#isDealing = answer.isDealing;
    // A home that knows of no want, though one was reported to it, has other limits, or none.
    if (!answer.isDealing && this.#hasWant()) this.#wantAgain(LEND_HOLD_MS);
    this.#w.wake();
  }

  #grant(call: LendCall, { grants }: LendAnswer): void {
    const { clock, engine } = this.#w;
    for (const { gate, forMs, ...lot } of grants) {
      engine.borrower.grant(gate, { ...lot, until: call.askedAt + forMs }, clock.now());
      // The want was good for one lot: if something is missing still, it is a new one.
      const entry = this.#entries.get(gate);
      if (entry !== undefined) entry.want = undefined;
    }
    if (grants.length > 0) this.#w.wake();
  }

  /** A lot that never came, or was forgotten: none of it can be used any more. */
  #missed(gate: string, lot: number): void {
    const entry = this.#entryOf(gate);
    entry.isDue = true;
    if (!entry.over.has(lot)) {
      entry.over.set(lot, { lot, usedCost: 0, usedJobs: 0, isOver: true });
    }
  }

  #close(call: LendCall): void {
    call.isOver = true;
    call.done.resolve();
    this.#calls.delete(call);
  }

  /** The content of a call may be lost, so it is sent again. */
  #failed(call: LendCall, isAll: boolean, afterMs = LEND_RETRY_MS): void {
    if (call.isOver || this.#isStopped) return;
    this.#close(call);
    this.#isAll ||= isAll;
    this.#isDealing = true;
    this.#news = [...call.news, ...this.#news];
    for (const gate of call.gates) this.#entryOf(gate).isDue = true;
    this.#wantAgain(afterMs);
  }

  /** The answer to a want may be lost, and with it the want: it is sent again after a while. */
  #wantAgain(afterMs: number): void {
    for (const entry of this.#entries.values()) if (entry.want !== undefined) entry.isDue = true;
    const { clock } = this.#w;
    this.#retry?.cancel();
    this.#retry = undefined;
    if (afterMs === 0) return this.#w.wake();
    this.#retry = clock.at(clock.now() + afterMs, () => {
      this.#retry = undefined;
      this.#w.wake();
    });
    this.#retry.unref?.();
  }

  stop(): void {
    this.#isStopped = true;
    this.#retry?.cancel();
  }
}

/** Jobs that run and did not start from a lot which is open: it falls only when jobs end. */
function balanceOf({ held, uses }: BorrowerWord): number {
  return uses.reduce((sum, { usedJobs, isOver }) => (isOver ? sum : sum - usedJobs), held);
}

/** Whether a word is worth sending: it returns something to the home, or asks something of it. */
function isWorth(word: BorrowerWord & { mustBeDurable: boolean }, entry: Entry): boolean {
  if (word.uses.some(({ isOver }) => isOver)) return true;
  if (word.mustBeDurable && balanceOf(word) < entry.balance) return true;
  const { want } = word;
  if (want === undefined || entry.want === undefined) return want !== entry.want;
  return want.least !== entry.want.least || want.tier !== entry.want.tier;
}

function isIdle({ seq, over }: Entry, { held, uses, want }: BorrowerWord): boolean {
  return seq === 0 && over.size === 0 && held === 0 && uses.length === 0 && want === undefined;
}
