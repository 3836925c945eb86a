import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { MemoryLog } from "@sluice/log";
import {
  brokerConformance,
  type HowItEnds,
  type Opened,
  type Register,
} from "@sluice/protocol/conformance";
import { settlingClock } from "@sluice/protocol/testing";
import { openBroker } from "./index.ts";
import type { OpenOptions } from "./options.ts";
import { SAME_SUBJECTS } from "./testing/conforms-on.ts";

const CASE_MS_MAX = 20_000;
/** Turns of the event loop after which all that needs no time has come through. */
const TURNS = 6;

async function settle(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) await setImmediate();
}

/** Opens brokers on memory logs; a crash takes the log away from under the broker. */
function opener(options: Partial<OpenOptions>): () => Promise<Opened> {
  const { segmentBytes } = options;
  const segments = segmentBytes === undefined ? {} : { segmentBytes };
  return async () => {
    const clock = settlingClock(settle);
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

function conforms(name: string, options: Partial<OpenOptions>, skipped?: RegExp): void {
  const register: Register = (sentence, run) => test(sentence, { timeout: CASE_MS_MAX }, run);
  brokerConformance(name, opener(options), register, skipped === undefined ? {} : { skipped });
}

conforms("embedded", {});
conforms("embedded, cleaning all the time", { segmentBytes: 2048 }, SAME_SUBJECTS);
conforms("embedded, payloads on disk", { payloadMemoryBytes: 1 }, SAME_SUBJECTS);
