import type { AddResult, Engine, JobSpec } from "@sluice/engine";
import { Refusal } from "@sluice/engine";
import type { Clock, SluiceError, Timer } from "@sluice/protocol";
import { aborted } from "./ends.ts";
import type { HeldGroups } from "./held-groups.ts";
import { WAITING_ADDS_MAX } from "./limits.ts";
import { toPortError } from "./refuse.ts";

interface Waiting {
  spec: JobSpec;
  onAdded: (added: AddResult) => void;
  answer: PromiseWithResolvers<AddResult>;
  timer: Timer;
}

/**
 * Adds that wait for room in a full queue, in the order in which they came. Each is tried when jobs
 * have left the queue, and refused when its time is up.
 */
export class Room {
  readonly #engine: Engine;
  readonly #clock: Clock;
  readonly #groups: HeldGroups;
  readonly #wake: () => void;
  readonly #waiting = new Map<string, Set<Waiting>>();

  constructor(engine: Engine, clock: Clock, groups: HeldGroups, wake: () => void) {
    this.#engine = engine;
    this.#groups = groups;
    this.#clock = clock;
    this.#wake = wake;
  }

  /** So many wait already that no more are let in. */
  get isFull(): boolean {
    return this.#count >= WAITING_ADDS_MAX;
  }

  get #count(): number {
    let count = 0;
    for (const list of this.#waiting.values()) count += list.size;
    return count;
  }

  /** Adds a job when there is room for it. `onAdded` is told before anything else happens. */
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
    const waiting = { spec, answer, timer, onAdded };
    this.#waiting.set(queue, list.add(waiting));
    if (spec.group !== undefined) this.#groups.await(spec.group);
    if (signal === undefined) return answer.promise;
    const abort = (): void => giveUp(aborted(signal));
    signal.addEventListener("abort", abort, { once: true });
    return answer.promise.finally(() => signal.removeEventListener("abort", abort));
  }

  /** Tries those who wait: one whose lane is full does not hold up the others. */
  look(): void {
    for (const [queue, list] of this.#waiting) {
      for (const waiting of list)
        if (this.#hasRoom(queue, waiting.spec)) this.#enter(queue, waiting);
      if (list.size === 0) this.#waiting.delete(queue);
    }
  }

  #enter(queue: string, waiting: Waiting): void {
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
      return this.#engine.hasRoom(queue, spec, this.#clock.now());
    } catch (error) {
      if (error instanceof Refusal) return true;
      throw error;
    }
  }
}
