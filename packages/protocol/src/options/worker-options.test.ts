import assert from "node:assert/strict";
import { test } from "node:test";
import { HANDLERS_MAX } from "../limits.ts";
import { refused } from "../testing/refused.ts";
import { parseClose, parseConsume, parseWork } from "./worker-options.ts";

const refusedWork = (options: unknown): string => refused(() => parseWork(options));
const refusedElastic = (elastic: object): string =>
  refusedWork({ concurrency: { min: 1, max: 2, ...elastic } });

test("a worker runs one job at a time and prefetches none by default", () => {
  const { concurrency, prefetch, leaseMs, name } = parseWork({});
  assert.deepEqual(
    [concurrency.min, concurrency.max, prefetch, leaseMs, name],
    [1, 1, 0, undefined, undefined],
  );
});

test("the defaults of elastic concurrency are filled in", () => {
  assert.deepEqual(parseWork({ concurrency: { min: 10, max: 20 } }).concurrency, {
    min: 10,
    max: 20,
    scaleUpAt: 0.6,
    scaleDownAt: 0.4,
  });
});

test("the most slots pass and one more does not", () => {
  assert.equal(parseWork({ concurrency: HANDLERS_MAX }).concurrency.max, HANDLERS_MAX);
  assert.equal(refusedWork({ concurrency: HANDLERS_MAX + 1 }), "work.concurrency");
  assert.equal(refusedWork({ prefetch: HANDLERS_MAX + 1 }), "work.prefetch");
});

test("refuses a bad option and names it", () => {
  assert.equal(refusedWork(5), "work");
  assert.equal(refusedWork({ concurency: 5 }), "work.concurency");
  assert.equal(refusedWork({ concurrency: 0 }), "work.concurrency");
  assert.equal(refusedWork({ concurrency: 1.5 }), "work.concurrency");
  assert.equal(refusedWork({ concurrency: "5" }), "work.concurrency");
  assert.equal(refusedWork({ prefetch: -1 }), "work.prefetch");
  assert.equal(refusedWork({ lease: "2d" }), "work.lease");
  assert.equal(refusedWork({ name: "" }), "work.name");
  assert.equal(refusedElastic({ min: 0 }), "work.concurrency.min");
  assert.equal(refusedElastic({ min: 3 }), "work.concurrency.min");
  assert.equal(refusedElastic({ max: "9" }), "work.concurrency.max");
  assert.equal(refusedElastic({ scaleUpAt: 1.1 }), "work.concurrency.scaleUpAt");
  assert.equal(refusedElastic({ scaleDownAt: -0.1 }), "work.concurrency.scaleDownAt");
  assert.equal(refusedElastic({ scaleUpAt: 0.3 }), "work.concurrency.scaleDownAt");
  assert.equal(refusedElastic({ load: 5 }), "work.concurrency.load");
  assert.equal(refusedElastic({ step: 5 }), "work.concurrency.step");
});

test("a consumer holds at least one job", () => {
  assert.equal(parseConsume({}).prefetch, 10);
  assert.equal(parseConsume({ prefetch: 1, lease: "5s" }).leaseMs, 5_000);
  assert.equal(
    refused(() => parseConsume({ prefetch: 0 })),
    "consume.prefetch",
  );
  assert.equal(
    refused(() => parseConsume({ concurrency: 5 })),
    "consume.concurrency",
  );
});

test("closing may be given a time limit", () => {
  assert.equal(parseClose({}), undefined);
  assert.equal(parseClose({ timeout: 0 }), 0);
  assert.equal(
    refused(() => parseClose({ timeout: -1 })),
    "close.timeout",
  );
  assert.equal(parseClose({ timeout: "5s" }), 5_000);
  assert.equal(
    refused(() => parseClose({ timeoutMs: 5 })),
    "close.timeoutMs",
  );
});
