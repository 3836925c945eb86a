import type { AddResult, Engine, JobSpec } from "@sluice/engine";
import { Refusal } from "@sluice/engine";
import type { Clock, SluiceError, Timer } from "@sluice/protocol";
import { toPortError } from "./refuse.ts";

interface Waiting {
  spec: JobSpec;
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
  readonly #wake: () => void;
  readonly #waiting = new Map<string, Waiting[]>();

  constructor(engine: Engine, clock: Clock, wake: () => void) {
    this.#engine = engine;
    this.#clock = clock;
    this.#wake = wake;
  }

  /** Adds a job now, or when there is room for it. */
  add(queue: string, spec: JobSpec, refusal: Refusal): Promise<AddResult> {
    const { addTimeoutMs } = this.#engine.queueConfig(queue);
    const answer = Promise.withResolvers<AddResult>();
    const list = this.#waiting.get(queue) ?? [];
    const until = this.#clock.now() + addTimeoutMs;
    const timer = this.#clock.at(until, () => {
      const at = list.indexOf(waiting);
      if (at !== -1) list.splice(at, 1);
      answer.reject(toPortError(refusal));
    });
    const waiting = { spec, answer, timer };
    list.push(waiting);
    this.#waiting.set(queue, list);
    return answer.promise;
  }

  /** Tries those who wait. */
  look(): void {
    for (const [queue, list] of this.#waiting) {
      while (list.length > 0 && this.#hasRoom(queue)) {
        const { spec, answer, timer } = list.shift()!;
        timer.cancel();
        try {
          answer.resolve(this.#engine.add(queue, spec, this.#clock.now()));
        } catch (error) {
          answer.reject(toPortError(error));
        }
        this.#wake();
      }
      if (list.length === 0) this.#waiting.delete(queue);
    }
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
  #hasRoom(queue: string): boolean {
    try {
      const { waiting, bytes } = this.#engine.queueStats(queue);
      const { capacity } = this.#engine.queueConfig(queue);
      return waiting < capacity.jobs && bytes < capacity.bytes;
    } catch (error) {
      if (error instanceof Refusal) return true;
      throw error;
    }
  }
}
