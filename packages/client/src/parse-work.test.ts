import assert from "node:assert/strict";
import { test } from "node:test";
import { SluiceError } from "@sluice/protocol";
import { CONCURRENCY_MAX } from "./limits.ts";
import { parseClose, parseConsume, parseWork } from "./parse-work.ts";

function refused(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    assert.ok(error instanceof SluiceError && error.code === "INVALID", String(error));
    return error.details.field;
  }
  return undefined;
}

const refusedWork = (options: unknown): unknown => refused(() => parseWork(options));
const refusedElastic = (elastic: object): unknown =>
  refusedWork({ concurrency: { min: 1, max: 2, ...elastic } });

test("a worker runs one job at a time and holds none ready, unless told otherwise", () => {
  const { elastic, prefetch, leaseMs, name } = parseWork({});
  assert.deepEqual(
    [elastic.min, elastic.max, prefetch, leaseMs, name],
    [1, 1, 0, undefined, undefined],
  );
});

test("the defaults of elastic concurrency are filled in", () => {
  assert.deepEqual(parseWork({ concurrency: { min: 10, max: 20 } }).elastic, {
    min: 10,
    max: 20,
    scaleUpAt: 0.6,
    scaleDownAt: 0.4,
    load: undefined,
  });
});

test("the most slots pass and one more does not", () => {
  assert.equal(parseWork({ concurrency: CONCURRENCY_MAX }).elastic.max, CONCURRENCY_MAX);
  assert.equal(refusedWork({ concurrency: CONCURRENCY_MAX + 1 }), "work.concurrency");
  assert.equal(refusedWork({ prefetch: CONCURRENCY_MAX + 1 }), "work.prefetch");
});

test("a bad option is refused by its name", () => {
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
  assert.equal(parseClose({ timeoutMs: 0 }), 0);
  assert.equal(
    refused(() => parseClose({ timeoutMs: -1 })),
    "close.timeoutMs",
  );
  assert.equal(
    refused(() => parseClose({ timeout: 5 })),
    "close.timeout",
  );
});
