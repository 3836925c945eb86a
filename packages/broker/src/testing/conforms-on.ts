/** The suite of the port on brokers whose log is at a real server, which takes its time. */
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { Log } from "@sluice/log";
import {
  brokerConformance,
  type HowItEnds,
  type Opened,
  type Register,
} from "@sluice/protocol/conformance";
import { settlingClock } from "@sluice/protocol/testing";
import { type LocalBroker, openBroker } from "../index.ts";
import type { OpenOptions } from "../options.ts";

const CASE_MS_MAX = 60_000;
const TURNS = 6;

/** Opens the log of a case; a second call opens the same one, and shuts out its former owner. */
export type OpenCaseLog = (name: string, segments: { segmentBytes?: number }) => Promise<Log>;

/** Subjects without payloads and restarts: the same, wherever payloads are and what is cleaned. */
export const SAME_SUBJECTS = new RegExp(
  "^(?:call options|limits|cancelByKey|why|setQueue|pause|policies$|admission)" +
    "|^(?:fairness|tiers|gates$|events)",
);

let cases = 0;

/** Registers the whole suite, and what cleaning and payloads in the log can break of it. */
export function conformsOn(where: string, openLog: OpenCaseLog): void {
  conforms(`on ${where}`, openLog, {});
  // An add waits for a cleaner that is behind before its own time begins, and here that takes as
  // long as the servers do: cases of capacity that count time run with larger segments.
  const skipped = new RegExp(`${SAME_SUBJECTS.source}|^capacity`);
  conforms(`on ${where}, cleaning all the time`, openLog, { segmentBytes: 2048 }, { skipped });
  conforms(`on ${where}, payloads in the log`, openLog, { payloadMemoryBytes: 1 }, { skipped });
}

function conforms(
  name: string,
  openLog: OpenCaseLog,
  options: Partial<OpenOptions>,
  left: { skipped?: RegExp } = {},
): void {
  const register: Register = (sentence, run) => test(sentence, { timeout: CASE_MS_MAX }, run);
  brokerConformance(name, opener(openLog, options), register, left);
}

/** The log takes as long as the servers do. */
async function settle(broker: LocalBroker | undefined): Promise<void> {
  for (let turn = 0; turn < TURNS; ) {
    await setImmediate();
    const { unsyncedBytes } = (await broker?.stats().catch(() => undefined)) ?? {};
    turn = unsyncedBytes ? 0 : turn + 1;
  }
}

/** A crash is a successor that opens the log while the broker still has it. */
function opener(openLog: OpenCaseLog, options: Partial<OpenOptions>): () => Promise<Opened> {
  const { segmentBytes } = options;
  const segments = segmentBytes === undefined ? {} : { segmentBytes };
  return async () => {
    const name = `broker-${++cases}`;
    let broker: LocalBroker | undefined;
    const clock = settlingClock(() => settle(broker));
    const open = async (): Promise<LocalBroker> => {
      const log = await openLog(name, segments);
      return openBroker({ ...options, log, clock });
    };
    broker = await open();
    return {
      broker,
      now: () => clock.now(),
      advance: (ms) => clock.advance(ms),
      async reopen(how: HowItEnds) {
        if (how === "close") await broker!.close();
        clock.forget();
        broker = await open();
        return broker;
      },
      close: () => broker!.close(),
    };
  };
}
