import type { Engine, LentLot } from "@sluice/engine";
import { type Clock, NAME, SluiceError, type Timer } from "@sluice/protocol";
import type { Journal } from "../journal.ts";
import { LEND_HOLD_MS, LEND_SILENT_MS } from "../limits.ts";
import { toPortError } from "../refuse.ts";
import type { Grant, LendAnswer, LendRequest } from "./port.ts";

export interface LendingParts {
  readonly engine: Engine;
  readonly journal: Journal;
  readonly clock: Clock;
  wake(): void;
}

/** A request that waits for an answer. */
interface Held {
  readonly timer: Timer;
  answer(): void;
}

/** A borrower, as far as this process has heard of it. */
class KnownBorrower {
  seq = 0;
  lots: LentLot[] = [];
  held: Held | undefined;
  silence: Timer | undefined;
}

/**
 * The side of a gate's home. A call is answered when there is something to answer: lots that were
 * lent, lots that are missing, or, after a while, nothing. A borrower has one call waiting here: an
 * older one is answered when a newer one comes. An answer has no lot that is not durable yet.
 */
export class LendAnswers {
  readonly #w: LendingParts;
  readonly #peers = new Map<string, KnownBorrower>();
  #isStopped = false;

  constructor(world: LendingParts) {
    this.#w = world;
  }

  async lend(request: LendRequest): Promise<LendAnswer> {
    const receivedAt = this.#w.clock.now();
    const peer = this.#hear(request);
    if (peer === undefined) return this.#answerOf(false, [], request.borrower);
    this.look();
    if (request.isPressing === true) await this.#now(peer);
    else await this.#turn(peer, request.borrower);
    const lots = peer.lots.splice(0);
    await this.#w.journal.durable();
    return this.#answerOf(true, grantsOf(lots, receivedAt), request.borrower);
  }

  #answerOf(isHeard: boolean, grants: Grant[], borrower: string): LendAnswer {
    const { lender } = this.#w.engine;
    const missing = lender.missingLots(borrower);
    const isDealing = !isHeard || lender.isDealingWith(borrower);
    return { life: lender.life, isHeard, grants, missing, isDealing };
  }

  /** Takes in what is said; undefined: it is not newer than what was heard. */
  #hear(request: LendRequest): KnownBorrower | undefined {
    const { borrower, life, homeLife, seq, isAll, words, news } = request;
    const { engine, clock } = this.#w;
    const { lender } = engine;
    const now = clock.now();
    const known = this.#peers.get(borrower);
    if (homeLife !== lender.life || life < lender.lifeOf(borrower)) return undefined;
    const isNewLife = life > lender.lifeOf(borrower);
    if ((known === undefined || isNewLife) && !isAll) return undefined;
    if (known !== undefined && !isNewLife && seq <= known.seq) return undefined;
    const peer = known ?? new KnownBorrower();
    this.#peers.set(borrower, peer);
    peer.seq = seq;
    // What was lent to the life before is not known to this one, and expires.
    if (isNewLife) peer.lots = [];
    for (const { gate } of [...words, ...news]) NAME.parse("gate", gate);
    try {
      if (isNewLife) lender.meet(borrower, life, words, now);
      else if (isAll) lender.keepOnly(borrower, new Set(words.map(({ gate }) => gate)), now);
      if (!isNewLife) for (const word of words) lender.hear(borrower, word, now);
      for (const each of news) lender.hearNews(each, now);
    } catch (error) {
      throw toPortError(error);
    } finally {
      this.#w.wake();
    }
    this.#setSilence(peer, borrower);
    return peer;
  }

  /** Drops the wants of a borrower that has become silent: it would not use what it gets. */
  #setSilence(peer: KnownBorrower, borrower: string): void {
    const { clock, engine } = this.#w;
    peer.silence?.cancel();
    peer.silence = clock.at(clock.now() + LEND_SILENT_MS, () => {
      engine.lender.dropWants(borrower, clock.now());
      this.#peers.delete(borrower);
      this.#w.wake();
    });
    peer.silence.unref?.();
  }

  /** What can be lent now is lent by a run of the pump, which is due at the end of this turn. */
  async #now(peer: KnownBorrower): Promise<void> {
    peer.held?.answer();
    await undefined;
    this.look();
  }

  /** Waits until there is something to say to this borrower. */
  async #turn(peer: KnownBorrower, borrower: string): Promise<void> {
    peer.held?.answer();
    const { lender } = this.#w.engine;
    const isAnswer = peer.lots.length > 0 || lender.missingLots(borrower).length > 0;
    if (isAnswer || !lender.isDealingWith(borrower)) return;
    await new Promise<void>((resolve, reject) => {
      const answer = (): void => {
        held.timer.cancel();
        peer.held = undefined;
        if (this.#isStopped) reject(new SluiceError("CLOSED", "the broker is closed"));
        else resolve();
      };
      const { clock } = this.#w;
      const timer = clock.at(clock.now() + LEND_HOLD_MS, answer);
      timer.unref?.();
      const held: Held = { timer, answer };
      peer.held = held;
    });
  }

  /** Hands out what was lent since it last looked. */
  look(): void {
    for (const lot of this.#w.engine.lender.takeLots()) {
      this.#peers.get(lot.borrower)?.lots.push(lot);
    }
    for (const peer of this.#peers.values()) if (peer.lots.length > 0) peer.held?.answer();
  }

  stop(): void {
    this.#isStopped = true;
    for (const peer of this.#peers.values()) {
      peer.silence?.cancel();
      peer.held?.answer();
    }
    this.#peers.clear();
  }
}

/** A lot that was lent before the call came is good for what is left of its time. */
function grantsOf(lots: readonly LentLot[], receivedAt: number): Grant[] {
  return lots
    .map(({ gate, lot, cost, jobs, tier, until }) => {
      return { gate, lot, cost, jobs, tier, forMs: until - receivedAt };
    })
    .filter(({ forMs }) => forMs > 0);
}
