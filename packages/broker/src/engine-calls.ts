import type { Engine } from "@sluice/engine";
import { type OperationOptions, type Outcome, SluiceError } from "@sluice/protocol";
import type { Journal } from "./journal.ts";
import { ITEMS_PER_TURN } from "./limits.ts";
import { type Note, OperationAnswers } from "./operations.ts";
import { errorJson, toPortError } from "./refuse.ts";

/** A call of the port that is made item by item, and once for each operation id. */
export interface BatchCall {
  readonly name: string;
  readonly operationId: string | undefined;
}

type EngineCall<T> = (engine: Engine, now: number) => T;
type ItemCall<I, T> = (item: I, engine: Engine, now: number) => T;

/**
 * Makes the calls to the engine that answer the calls of the port. Errors are those of the port,
 * the pump runs after each call, and an answer waits until what was changed is durable.
 */
export class EngineCalls {
  readonly engine: Engine;
  readonly now: () => number;
  readonly operations: OperationAnswers;
  readonly #journal: Journal;
  readonly #wake: () => void;
  #isClosed = false;

  constructor(engine: Engine, journal: Journal, now: () => number, wake: () => void) {
    this.engine = engine;
    this.now = now;
    this.operations = new OperationAnswers(engine, journal, now);
    this.#journal = journal;
    this.#wake = wake;
  }

  /** From now on every call is refused. */
  close(): void {
    this.#isClosed = true;
  }

  /** Refuses a call that can have no answer any more. */
  check(): void {
    if (this.#journal.failure !== undefined) throw this.#journal.failure;
    if (this.#isClosed) throw new SluiceError("CLOSED", "the broker is closed");
  }

  /** Makes one call to the engine; what it refuses is thrown in the words of the port. */
  call<T>(call: EngineCall<T>): T {
    this.check();
    try {
      const result = call(this.engine, this.now());
      this.#journal.drain();
      return result;
    } catch (error) {
      throw toPortError(error);
    } finally {
      this.#wake();
    }
  }

  /** Asks the engine what changes nothing: there is nothing to write, and the pump may rest. */
  ask<T>(question: (engine: Engine) => T): T {
    this.check();
    try {
      return question(this.engine);
    } catch (error) {
      throw toPortError(error);
    }
  }

  /** Makes one call, and answers when what it changed is durable. */
  async change<T>(call: EngineCall<T>): Promise<T> {
    const result = this.call(call);
    await this.#journal.durable();
    return result;
  }

  /** The same, once for each operation id; `said` is what else the call says. */
  async changeOnce<T>(
    name: string,
    { operationId }: OperationOptions,
    call: EngineCall<T>,
    ...said: readonly unknown[]
  ): Promise<T> {
    if (operationId === undefined) return this.change(call);
    this.check();
    const operation = { operationId, call: name, items: 1, said };
    const [outcome] = await this.operations.once<T>(operation, async (_, note) => {
      const ok = this.call((engine, now) => {
        const result = call(engine, now);
        note(0, [{ ok: result ?? true }]);
        return result;
      });
      await this.#journal.durable();
      return [{ ok }];
    });
    return outcome!.ok as T;
  }

  /**
   * The same as `each`, unless this operation was answered before. It returns the promise as it
   * is: with one more `await` the answer would arrive after those of later calls.
   */
  eachOnce<I, T>(
    { name, operationId }: BatchCall,
    items: readonly I[],
    call: ItemCall<I, T>,
  ): Promise<Outcome<T>[]> {
    if (operationId === undefined) return this.each(items, call);
    return this.#named({ name, operationId }, items, call);
  }

  async #named<I, T>(
    { name, operationId }: BatchCall & { readonly operationId: string },
    items: readonly I[],
    call: ItemCall<I, T>,
  ): Promise<Outcome<T>[]> {
    this.check();
    const operation = { operationId, call: name, items: items.length, said: [items] };
    return this.operations.once<T>(operation, (missing, note) => {
      const rest = missing.map((item) => items[item]!);
      return this.each(rest, call, note);
    });
  }

  /**
   * Makes a call for each item; answers when all of them are durable. A large batch is cut, so that
   * it does not delay other calls.
   */
  async each<I, T>(items: readonly I[], call: ItemCall<I, T>, note?: Note): Promise<Outcome<T>[]> {
    const outcomes: Outcome<T>[] = [];
    for (let from = 0; from === 0 || from < items.length; from += ITEMS_PER_TURN) {
      if (from > 0) await new Promise(setImmediate);
      this.check();
      const now = this.now();
      const to = Math.min(from + ITEMS_PER_TURN, items.length);
      for (let i = from; i < to; i++) {
        try {
          outcomes.push(okOf(call(items[i]!, this.engine, now)));
        } catch (error) {
          outcomes.push({ error: errorJson(error) });
        }
      }
      note?.(from, from === 0 ? outcomes : outcomes.slice(from));
      this.#wake();
    }
    await this.#journal.durable();
    return outcomes;
  }
}

const DONE: Outcome<true> = Object.freeze({ ok: true });

/** Most answers say no more than that it is done: they are one and the same. */
function okOf<T>(ok: T): Outcome<T> {
  return ok === true ? (DONE as Outcome<T>) : { ok };
}

/** The answer for one item of a batch: what `call` answers, or why it was refused. */
export function outcomeOf<T>(call: () => T): Outcome<T> {
  try {
    return okOf(call());
  } catch (error) {
    return { error: errorJson(error) };
  }
}
