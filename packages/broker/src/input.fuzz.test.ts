import assert from "node:assert/strict";
import { test } from "node:test";
import { Engine, type Fact, Refusal } from "@sluice/engine";
import { checkFailure, type NewJob, parseGate, parseQueue, SluiceError } from "@sluice/protocol";
import { random } from "@sluice/protocol/testing/random";
import { specOf } from "./new-jobs.ts";

/** Inputs for each entrance; the soak sets more. */
const INPUTS = Number(process.env.FUZZ_INPUTS ?? 20_000);

/** Words the parsers know, so that a good part of the input gets past the first check. */
const WORDS = [
  ..."tiers tierOrder fairness weights weight capacity jobs bytes perLane delayed running".split(
    " ",
  ),
  ..."onFull admission fill rate burst leaseMs retry attempts minMs maxMs factor jitter".split(" "),
  ..."dlq results ms ttlMs paused promoteAfterMs fullRetryMs interval from factors".split(" "),
  ..."floorMs windows limit perMs concurrency ladder fairnessKey priority gates cost".split(" "),
  ..."delayMs runAt deadline maxWaitMs dedupe key mode windowMs group backoff sizeBytes".split(" "),
  ..."error cooldown gate reason blame unrecoverable __proto__ constructor toString".split(" "),
];
const TEXTS = [
  "",
  "a",
  "a*",
  "strict",
  "end",
  "start",
  "spill",
  "drop",
  "pending",
  "\ud800",
  "é".repeat(600),
];
const NUMBERS = [0, 1, -1, 0.5, 4, 1e9, 2 ** 53, -0, Number.NaN, Number.POSITIVE_INFINITY];

function pick<T>(next: () => number, from: readonly T[]): T {
  return from[Math.floor(next() * from.length)]!;
}

function value(next: () => number, depth: number): unknown {
  const kind = next();
  if (kind < 0.25) return pick(next, NUMBERS);
  if (kind < 0.45) return pick(next, TEXTS);
  if (kind < 0.55) return pick(next, [null, undefined, true, false]);
  if (depth === 0) return 1;
  if (kind < 0.7)
    return Array.from({ length: Math.floor(next() * 4) }, () => value(next, depth - 1));
  return object(next, depth - 1);
}

function object(next: () => number, depth: number): Record<string, unknown> {
  const made: Record<string, unknown> = {};
  const fields = Math.floor(next() * 5);
  for (let i = 0; i < fields; i++) made[pick(next, WORDS)] = value(next, depth);
  return made;
}

const PAYLOAD_BYTES_MAX = 10;

/** As the port lets it in. */
function jobOf(input: unknown): ReturnType<typeof specOf> {
  const isObject = typeof input === "object" && input !== null && !Array.isArray(input);
  const job = isObject ? { payload: new Uint8Array(1), ...input } : input;
  return specOf(job as NewJob, "q", PAYLOAD_BYTES_MAX);
}

const ENTRANCES: Record<string, (engine: Engine, input: never) => unknown> = {
  add: (engine, input) => engine.add("q", jobOf(input), 0),
  nack: (engine, input) => {
    checkFailure(input);
    engine.nack(1, 1, 0, input);
  },
  "ack by id": (engine, input) => engine.ack(input, 1, 0),
  "extend by ms": (engine, input) => engine.extend(1, 1, input, 0),
  "want by slots": (engine, input) => engine.want("q", "w", input, 0),
};

function fresh(facts: Fact[]): Engine {
  const letterQueue = (name: string) => parseQueue(name, {}).config;
  const engine = new Engine({ facts, letterQueue });
  engine.setQueue("q", parseQueue("q", { capacity: { jobs: 50 } }).config, 0);
  engine.setGate("g", parseGate({ rate: 1 }), 0);
  engine.add("q", {}, 0);
  engine.want("q", "w", 1, 0);
  engine.dispatch(0);
  return engine;
}

for (const [name, call] of Object.entries(ENTRANCES)) {
  test(`${name}: any input is accepted or refused, and a refusal changes nothing`, () => {
    const facts: Fact[] = [];
    let engine = fresh(facts);
    let refused = 0;
    for (let seed = 1; seed <= INPUTS; seed++) {
      if (seed % 200 === 0) engine = fresh(facts);
      const next = random(seed);
      const input = (next() < 0.8 ? object(next, 3) : value(next, 3)) as never;
      const told = facts.length;
      const begun = performance.now();
      try {
        call(engine, input);
      } catch (error) {
        const isRefusal = error instanceof Refusal || error instanceof SluiceError;
        assert.ok(isRefusal, `seed ${seed}: ${String(error)}`);
        assert.equal(facts.length, told, `seed ${seed}: a refused call told a fact`);
        refused++;
      }
      assert.ok(performance.now() - begun < 1000, `seed ${seed}: took over a second`);
    }
    assert.ok(refused > 0, "some of it must have been refused");
  });
}
