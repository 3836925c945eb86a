/**
 * Detects activity: calls made and answered, and jobs delivered. It sits between the client and the
 * port, so nothing else has to count.
 *
 * Jobs go out when the log has taken note of it, which only the broker sees. An empty call is
 * answered behind all that is being written, so when it changes nothing, nothing was on its way.
 */
import type { Broker } from "@sluice/protocol";
import { turn } from "./turn.ts";

/** Calls that wait for something outside, so waiting for them might never end. */
const OPEN_ENDED: ReadonlySet<PropertyKey> = new Set([
  "ended",
  "groupEnded",
  "lease",
  "events",
  "close",
]);

/**
 * Turns of the event loop without any movement after which everything is taken to stand still. A
 * broker needs a few from a decision to its delivery, while a log in memory takes note of it.
 */
const QUIET_TURNS = 8;

type Call = (...args: readonly unknown[]) => unknown;

export class Activity {
  #moves = 0;
  #pending = 0;
  /** Queues on which an add may wait for room, which only time or another job can make. */
  readonly #waiting = new Set<unknown>();

  #port: Broker | undefined = undefined;

  /** The same port, seen through. */
  watch(port: Broker): Broker {
    this.#port = port;
    const calls = new Map<PropertyKey, Call>();
    return new Proxy(port, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== "function") return value;
        let call = calls.get(name);
        if (call === undefined) {
          call = this.#count(name, value.bind(target) as Call);
          calls.set(name, call);
        }
        return call;
      },
    });
  }

  /** Resolves when nothing has moved for a while and no call is waiting for its answer. */
  async settled(): Promise<void> {
    for (let before = -1; before !== this.#moves; ) {
      await this.#quiet();
      before = this.#moves;
      await this.#port?.giveBack([]).catch(() => {});
    }
  }

  async #quiet(): Promise<void> {
    for (let turns = 0; turns < QUIET_TURNS; ) {
      const before = this.#moves;
      await turn();
      turns = this.#moves === before && this.#pending === 0 ? turns + 1 : 0;
    }
  }

  #count(name: PropertyKey, call: Call): Call {
    if (name === "consume") return (...args) => call(...this.#countDeliveries(args));
    if (OPEN_ENDED.has(name)) return call;
    return (...args) => {
      this.#moves++;
      const answer = call(...args);
      if (name === "add" && this.#waiting.has(args[0])) return answer;
      return answer instanceof Promise ? this.#wait(name, args[0], answer) : answer;
    };
  }

  async #wait<T>(name: PropertyKey, queue: unknown, answer: Promise<T>): Promise<T> {
    this.#pending++;
    try {
      const result = await answer;
      if (name === "setQueue") this.#note(queue, result);
      return result;
    } finally {
      this.#pending--;
      this.#moves++;
    }
  }

  #note(queue: unknown, info: unknown): void {
    const { config } = info as { config?: { onFull?: string } };
    if (config?.onFull === "wait") this.#waiting.add(queue);
    else this.#waiting.delete(queue);
  }

  #countDeliveries(args: readonly unknown[]): unknown[] {
    const [queue, options, deliver] = args;
    const counted = (jobs: unknown): void => {
      this.#moves++;
      (deliver as Call)(jobs);
    };
    return [queue, options, counted];
  }
}
