import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { openBroker } from "@sluice/broker";
import { FakeClock } from "@sluice/client";
import { MemoryLog } from "@sluice/log";
import type { Broker } from "@sluice/protocol";
import {
  brokerConformance,
  ENGINE_SUBJECTS,
  type Opened,
  type Register,
} from "@sluice/protocol/conformance";
import { guard } from "./guard.ts";
import { ANYONE } from "./principal.ts";

/** Turns of the event loop after which all that needs no time has come through. */
const TURNS = 8;
const CASE_MS_MAX = 20_000;

async function settle(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) await setImmediate();
}

/** A principal with all rights sees the port itself. Only the owner closes it. */
function guarded(owned: Broker): Broker {
  const broker = guard(owned, ANYONE);
  broker.close = () => owned.close();
  return broker;
}

async function open(): Promise<Opened> {
  const clock = new FakeClock();
  clock.attach({ drain: settle });
  let log = new MemoryLog();
  let owned = await openBroker({ log, clock });
  return {
    broker: guarded(owned),
    now: () => clock.now(),
    advance: (ms) => clock.advance(ms),
    async reopen(how) {
      await (how === "close" ? owned.close() : log.close());
      await settle();
      log = new MemoryLog({ after: log });
      owned = await openBroker({ log, clock });
      return guarded(owned);
    },
    close: () => owned.close(),
  };
}

const register: Register = (sentence, run) => test(sentence, { timeout: CASE_MS_MAX }, run);
brokerConformance("guarded", open, register, { skipped: ENGINE_SUBJECTS });
