import type { AddResult, Engine, JobSpec } from "@sluice/engine";
import { Refusal } from "@sluice/engine";
import { aborted, type Clock, type SluiceError, type Timer } from "@sluice/protocol";
import type { HeldGroups } from "./held-groups.ts";
import { WAITING_ADDS_MAX } from "./limits.ts";
import { toPortError } from "./refuse.ts";

interface WaitingAdd {
  spec: JobSpec;
  lane: string;
  refusal: Refusal;
  onAdded: (added: AddResult) => void;
  answer: PromiseWithResolvers<AddResult>;
  timer: Timer;
}

/**
 * Adds that wait for room in a full queue, in the order in which they came. Each is tried when jobs
 * have left the queue, and refused when its time is up.
 */
export class WaitingAdds {
  readonly #engine: Engine;
  readonly #clock: Clock;
  readonly #groups: HeldGroups;
  readonly #wake: () => void;
  readonly #waiting = new Map<string, Set<WaitingAdd>>();
  /** The queues with adds that wait. */
  readonly queues: ReadonlyMap<string, unknown> = this.#waiting;

  constructor(engine: Engine, clock: Clock, groups: HeldGroups, wake: () => void) {
    this.#engine = engine;
    this.#groups = groups;
    this.#clock = clock;
    this.#wake = wake;
  }

  /** The limit of waiting adds is reached: no more may wait. */
  get isFull(): boolean {
    return this.#count >= WAITING_ADDS_MAX;
  }

  get #count(): number {
    let count = 0;
    for (const list of this.#waiting.values()) count += list.size;
    return count;
  }

  /** Adds a job when there is room for it. `onAdded` runs before anything else happens. */
  add(
    queue: string,
    spec: JobSpec,
    refusal: Refusal,
    signal: AbortSignal | undefined,
    onAdded: (added: AddResult) => void,
  ): Promise<AddResult> {
    const { addTimeoutMs } = this.#engine.queueConfig(queue);
    const answer = Promise.withResolvers<AddResult>();
    const list = this.#waiting.get(queue) ?? new Set();
    const giveUp = (error: SluiceError): void => {
      list.delete(waiting);
      timer.cancel();
      if (spec.group !== undefined) this.#groups.arrived(spec.group);
      answer.reject(error);
    };
    const until = this.#clock.now() + addTimeoutMs;
    const timer = this.#clock.at(until, () => {
      this.#engine.countRejected(queue);
      giveUp(toPortError(refusal));
    });
    const waiting = { spec, lane: laneOf(spec), refusal, answer, timer, onAdded };
    this.#waiting.set(queue, list.add(waiting));
    if (spec.group !== undefined) this.#groups.await(spec.group);
    if (signal === undefined) return answer.promise;
    const abort = (): void => giveUp(aborted(signal));
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    return answer.promise.finally(() => signal.removeEventListener("abort", abort));
  }

  /** Tries those who wait: one that finds no room holds up those of its lane, and no others. */
  look(): void {
    for (const queue of this.#waiting.keys()) this.#tryAll(queue);
  }

  /** Why an add may not go in before those of its lane that wait; undefined: none does. */
  refusalOf(queue: string, spec: JobSpec): Refusal | undefined {
    const list = this.#waiting.get(queue);
    // A job for later takes no place among those that wait.
    if (list === undefined || (spec.delayMs ?? 0) > 0 || spec.runAt !== undefined) return undefined;
    this.#tryAll(queue);
    const lane = laneOf(spec);
    for (const waiting of list) if (waiting.lane === lane) return waiting.refusal;
    return undefined;
  }

  #tryAll(queue: string): void {
    const list = this.#waiting.get(queue)!;
    const held = new Set<string>();
    for (const waiting of list) {
      if (held.has(waiting.lane)) continue;
      if (this.#hasRoom(queue, waiting.spec)) this.#enter(queue, waiting);
      else held.add(waiting.lane);
    }
    if (list.size === 0) this.#waiting.delete(queue);
  }

  #enter(queue: string, waiting: WaitingAdd): void {
    this.#waiting.get(queue)!.delete(waiting);
    waiting.timer.cancel();
    try {
      const added = this.#engine.add(queue, waiting.spec, this.#clock.now());
      waiting.onAdded(added);
      waiting.answer.resolve(added);
    } catch (error) {
      waiting.answer.reject(toPortError(error));
    }
    if (waiting.spec.group !== undefined) this.#groups.arrived(waiting.spec.group);
    this.#wake();
  }

  failAll(error: SluiceError): void {
    for (const list of this.#waiting.values()) {
      for (const { answer, timer } of list) {
        timer.cancel();
        answer.reject(error);
      }
    }
    this.#waiting.clear();
  }

  /** Also true for a queue that is gone: the add is refused with the reason. */
  #hasRoom(queue: string, spec: JobSpec): boolean {
    try {
      return this.#engine.queries.hasRoom(queue, spec, this.#clock.now());
    } catch (error) {
      if (error instanceof Refusal) return true;
      throw error;
    }
  }
}

/** Jobs with the same key and the same priority are one lane. */
function laneOf({ fairnessKey, priority }: JobSpec): string {
  return JSON.stringify([fairnessKey, priority]);
}

/**
 * Keeps the order of calls to a queue when some of them have to wait for a script: later calls act
 * later.
 */
export class Turns {
  readonly #last = new Map<string, Promise<void>>();
  /** The queues of which a call waits, so that a new one must wait behind it. */
  readonly queues: ReadonlyMap<string, unknown> = this.#last;

  /** Acts when `ready` has resolved and all earlier calls have acted, to the end. */
  async take<T>(queue: string, ready: Promise<T>, act: (value: T) => unknown): Promise<void> {
    const before = this.#last.get(queue);
    const turn = (async () => {
      const value = await ready;
      await before;
      const acting = act(value);
      if (acting instanceof Promise) await acting;
    })();
    // What one of them throws is its own.
    const over = turn.catch(() => {});
    this.#last.set(queue, over);
    try {
      await turn;
    } finally {
      if (this.#last.get(queue) === over) this.#last.delete(queue);
    }
  }
}
