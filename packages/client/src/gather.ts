/**
 * Gathers what is said one by one into the batches that the port takes. Items of the same turn of
 * the event loop travel together: the batch leaves when a whole round of microtasks has added
 * nothing to it, which costs no timer and works in Node and in browsers alike.
 *
 * Each item brings somebody who is told its own outcome. When the call as a whole fails, each
 * hears that.
 */
import { type ErrorJson, type Outcome, SluiceError, toSluiceError } from "@sluice/protocol";
import { BATCH_MAX } from "./limits.ts";

/** Somebody who waits for one item of a batch. */
export interface Waiter<Ok> {
  done(ok: Ok): void;
  refused(error: ErrorJson): void;
}

export type Send<Item, Ok> = (items: Item[]) => Promise<readonly Outcome<Ok>[]>;

export class Gather<Item, Ok> {
  readonly #send: Send<Item, Ok>;
  #items: Item[] = [];
  #waiters: Waiter<Ok>[] = [];
  #seen = 0;
  #inFlight = 0;

  constructor(send: Send<Item, Ok>) {
    this.#send = send;
  }

  add(item: Item, waiter: Waiter<Ok>): void {
    this.#items.push(item);
    this.#waiters.push(waiter);
    if (this.#items.length === 1) queueMicrotask(this.#settle);
    else if (this.#items.length >= BATCH_MAX) this.flush();
  }

  /** The same, with a promise for whoever wants to wait. */
  ask(item: Item): Promise<Ok> {
    return new Promise((done, reject) => {
      this.add(item, { done, refused: (error) => reject(SluiceError.fromJSON(error)) });
    });
  }

  /** Items that wait to be sent or to be answered. */
  get size(): number {
    return this.#inFlight + this.#items.length;
  }

  /** Looks again after each round of microtasks, and sends when the batch has stopped growing. */
  readonly #settle = (): void => {
    const { length } = this.#items;
    if (length === 0) return;
    if (length === this.#seen) return this.flush();
    this.#seen = length;
    queueMicrotask(this.#settle);
  };

  flush(): void {
    if (this.#items.length === 0) return;
    const items = this.#items;
    const waiters = this.#waiters;
    this.#items = [];
    this.#waiters = [];
    this.#seen = 0;
    this.#inFlight += items.length;
    void this.#deliver(items, waiters);
  }

  async #deliver(items: Item[], waiters: readonly Waiter<Ok>[]): Promise<void> {
    let outcomes: readonly Outcome<Ok>[];
    try {
      outcomes = await this.#send(items);
    } catch (error) {
      const failure: Outcome<Ok> = { error: toSluiceError(error).toJSON() };
      outcomes = waiters.map(() => failure);
    }
    for (let i = 0; i < waiters.length; i++) {
      this.#inFlight--;
      const { ok, error } = outcomes[i] ?? UNANSWERED;
      if (error === undefined) waiters[i]!.done(ok as Ok);
      else waiters[i]!.refused(error);
    }
  }
}

/** A port that answers fewer items than it was given is broken, but nobody is left waiting. */
const UNANSWERED: { ok?: undefined; error: ErrorJson } = {
  error: { code: "INTERNAL", message: "the broker left this item of the batch unanswered" },
};
