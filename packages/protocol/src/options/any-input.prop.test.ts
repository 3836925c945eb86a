import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { SluiceError } from "../errors.ts";
import { GATE_OPTIONS, parseGate } from "./gate-options.ts";
import { JOB_OPTIONS, readJob } from "./job-options.ts";
import { POLICY_OPTIONS } from "./policy-options.ts";
import { parseQueue, QUEUE_OPTIONS } from "./queue-options.ts";

const NESTED = [
  "attempts",
  "min",
  "max",
  "jobs",
  "perLane",
  "name",
  "every",
  "from",
  "limit",
  "per",
];
const TABLES = [GATE_OPTIONS, JOB_OPTIONS, POLICY_OPTIONS, QUEUE_OPTIONS];
const NAMES = [...new Set([...TABLES.flatMap((table) => Object.keys(table)), ...NESTED])];

const name = fc.constantFrom(...NAMES, "__proto__", "constructor");
const leaf = fc.oneof(
  fc.constantFrom(0, 1, -1, 0.5, 16, 1e9, Number.NaN, Infinity, null, undefined, true, "strict"),
  fc.constantFrom("30s", "1d", "x", "{headers.a}", "spill", "end", "a b", new Date(Number.NaN)),
  fc.anything(),
);
const part = fc.oneof(leaf, fc.array(leaf, { maxLength: 4 }), fc.dictionary(name, leaf));
const options = fc.oneof(
  leaf,
  fc.dictionary(name, fc.oneof(part, fc.dictionary(name, part), fc.array(part, { maxLength: 3 }))),
);

const PARSERS: Readonly<Record<string, (options: unknown) => unknown>> = {
  parseQueue: (given) => parseQueue("q", given),
  parseGate,
  readJob: (given) => readJob({}, given as object),
};

for (const [parser, parse] of Object.entries(PARSERS)) {
  test(`${parser}: accepts any input or refuses it with INVALID`, () => {
    let refused = 0;
    fc.assert(
      fc.property(options, (given) => {
        try {
          parse(given);
        } catch (error) {
          assert.ok(error instanceof SluiceError && error.code === "INVALID", String(error));
          assert.ok(typeof error.details.field === "string");
          refused++;
        }
      }),
      { numRuns: 3000 },
    );
    assert.ok(refused > 100, "most of it makes no sense");
  });
}
