// Calls that must be refused with the right code and change nothing.

import type { JobSpec } from "@sluice/engine";
import { isRefused, outcomeOf } from "../model/outcome.ts";
import type { EnginePort } from "./port.ts";

const NO_SUCH_ID = 2 ** 40;
const NO_SUCH_QUEUE = "nowhere";

interface Bad {
  readonly codes: readonly string[];
  readonly make: (engine: EnginePort, queue: string, now: number) => unknown;
}

const add = (spec: unknown): Bad => ({
  codes: ["INVALID"],
  make: (engine, queue, now) => engine.add(queue, spec as JobSpec, now),
});

const refused = (code: string, make: Bad["make"]): Bad => ({ codes: [code], make });

const BAD: Readonly<Record<string, Bad>> = {
  "tier out of range": add({ priority: 99 }),
  "negative tier": add({ priority: -1 }),
  "unknown tier name": add({ priority: "no such tier" }),
  "negative slots": refused("INVALID", (engine, name, now) => engine.want(name, "w0", -1, now)),
  "add to no queue": refused("QUEUE_NOT_FOUND", (engine, _, now) =>
    engine.add(NO_SUCH_QUEUE, { priority: 0 }, now),
  ),
  "pause of no queue": refused("QUEUE_NOT_FOUND", (engine, _, now) =>
    engine.setPaused(NO_SUCH_QUEUE, true, now),
  ),
  "resume of no queue": refused("QUEUE_NOT_FOUND", (engine, _, now) =>
    engine.setPaused(NO_SUCH_QUEUE, false, now),
  ),
  "purge of no queue": refused("QUEUE_NOT_FOUND", (engine, _, now) =>
    engine.purge(NO_SUCH_QUEUE, now),
  ),
  "delete of no queue": refused("QUEUE_NOT_FOUND", (engine, _, now) =>
    engine.deleteQueue(NO_SUCH_QUEUE, now),
  ),
  "want of no queue": refused("QUEUE_NOT_FOUND", (engine, _, now) =>
    engine.want(NO_SUCH_QUEUE, "w0", 1, now),
  ),
  "stats of no queue": refused("QUEUE_NOT_FOUND", (engine) => engine.queueStats(NO_SUCH_QUEUE)),
  "redrive of no queue": refused("QUEUE_NOT_FOUND", (engine, _, now) =>
    engine.redrive(NO_SUCH_QUEUE, {}, now),
  ),
  "ack of no job": refused("JOB_NOT_FOUND", (engine, _, now) => engine.ack(NO_SUCH_ID, 1, now)),
  "nack of no job": refused("JOB_NOT_FOUND", (engine, _, now) => engine.nack(NO_SUCH_ID, 1, now)),
  "extend of no job": refused("JOB_NOT_FOUND", (engine, _, now) =>
    engine.extend(NO_SUCH_ID, 1, 10, now),
  ),
  "give back of no job": refused("JOB_NOT_FOUND", (engine, _, now) =>
    engine.giveBack(NO_SUCH_ID, 1, now),
  ),
  "cancel of no job": refused("JOB_NOT_FOUND", (engine, _, now) => engine.cancel(NO_SUCH_ID, now)),
  "retry of no job": refused("JOB_NOT_FOUND", (engine, _, now) => engine.retry(NO_SUCH_ID, now)),
};

export const BAD_NAMES: readonly string[] = Object.keys(BAD);

// If the queue has been deleted, the call may also be refused with QUEUE_NOT_FOUND.
export function isBadRefused(engine: EnginePort, name: string, queue: string, now: number): void {
  const bad = BAD[name]!;
  const isGone = !engine.queueNames().includes(queue);
  const codes = isGone ? [...bad.codes, "QUEUE_NOT_FOUND"] : bad.codes;
  isRefused(
    outcomeOf(() => bad.make(engine, queue, now)),
    codes,
  );
}
