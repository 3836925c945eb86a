import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { MemoryLog } from "@sluice/log";
import type { Clock, Timer } from "@sluice/protocol";
import { brokerConformance, type HowItEnds, type Opened } from "@sluice/protocol/conformance";
import { openBroker } from "./index.ts";
import type { OpenOptions } from "./options.ts";

const START = 1_700_000_000_000;
/** Turns of the event loop after which all that needs no time has come through. */
const TURNS = 6;
const CASE_MS_MAX = 20_000;

interface Waiting {
  readonly time: number;
  readonly callback: () => void;
}

/** Time that passes when the suite says so. */
class FakeClock implements Clock {
  #now = START;
  readonly #waiting = new Set<Waiting>();

  now(): number {
    return this.#now;
  }

  at(time: number, callback: () => void): Timer {
    const waiting = { time, callback };
    this.#waiting.add(waiting);
    return { cancel: () => this.#waiting.delete(waiting) };
  }

  async advance(ms: number): Promise<void> {
    const until = this.#now + ms;
    await settle();
    for (;;) {
      const next = this.#next(until);
      if (next === undefined) break;
      this.#waiting.delete(next);
      this.#now = Math.max(this.#now, next.time);
      next.callback();
      await settle();
    }
    this.#now = until;
    await settle();
  }

  /** A process that is gone has no timers any more. */
  forget(): void {
    this.#waiting.clear();
  }

  #next(until: number): Waiting | undefined {
    const due = [...this.#waiting].filter(({ time }) => time <= until);
    return due.sort((a, b) => a.time - b.time)[0];
  }
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) await setImmediate();
}

/** Opens brokers on memory logs; a crash takes the log away from under the broker. */
function opener(options: Partial<OpenOptions>): () => Promise<Opened> {
  const { segmentBytes } = options;
  const segments = segmentBytes === undefined ? {} : { segmentBytes };
  return async () => {
    const clock = new FakeClock();
    let log = new MemoryLog(segments);
    let broker = await openBroker({ ...options, log, clock });
    return {
      broker,
      now: () => clock.now(),
      advance: (ms) => clock.advance(ms),
      async reopen(how: HowItEnds) {
        await (how === "close" ? broker.close() : log.close());
        await settle();
        clock.forget();
        log = new MemoryLog({ ...segments, after: log });
        broker = await openBroker({ ...options, log, clock });
        return broker;
      },
      close: () => broker.close(),
    };
  };
}

function conforms(name: string, options: Partial<OpenOptions>): void {
  brokerConformance(name, opener(options), (sentence, run) => {
    test(sentence, { timeout: CASE_MS_MAX }, run);
  });
}

conforms("embedded", {});
conforms("embedded, cleaning all the time", { segmentBytes: 2048 });
conforms("embedded, payloads on disk", { payloadMemoryBytes: 1 });
