import assert from "node:assert/strict";
import { test } from "node:test";
import { type Outcome, SluiceError } from "@sluice/protocol";
import { Gather } from "./gather.ts";
import { BATCH_MAX } from "./limits.ts";

/** A gather whose batches are noted, and answered with the doubles of their items. */
function doubling(): { gather: Gather<number, number>; batches: number[][] } {
  const batches: number[][] = [];
  const gather = new Gather<number, number>(async (items) => {
    batches.push(items);
    return items.map((item): Outcome<number> => ({ ok: item * 2 }));
  });
  return { gather, batches };
}

test("items of one turn travel in one batch and keep their order", async () => {
  const { gather, batches } = doubling();
  const answers = await Promise.all([gather.ask(1), gather.ask(2), gather.ask(3)]);
  assert.deepEqual(answers, [2, 4, 6]);
  assert.deepEqual(batches, [[1, 2, 3]]);
});

test("items that come a few microtasks later still travel along", async () => {
  const { gather, batches } = doubling();
  const later = async (item: number): Promise<number> => {
    await null;
    return gather.ask(item);
  };
  assert.deepEqual(await Promise.all([gather.ask(1), later(2), later(3)]), [2, 4, 6]);
  assert.deepEqual(batches, [[1, 2, 3]]);
});

test("a later turn makes another batch", async () => {
  const { gather, batches } = doubling();
  await gather.ask(1);
  await gather.ask(2);
  assert.deepEqual(batches, [[1], [2]]);
});

test("a batch never holds more than the port takes", async () => {
  const { gather, batches } = doubling();
  const count = BATCH_MAX * 2 + 1;
  const answers = await Promise.all(Array.from({ length: count }, (_, i) => gather.ask(i)));
  assert.deepEqual(
    batches.map((batch) => batch.length),
    [BATCH_MAX, BATCH_MAX, 1],
  );
  assert.equal(answers[count - 1], (count - 1) * 2);
});

test("one refused item leaves the others alone", async () => {
  const gather = new Gather<number, number>(async (items) =>
    items.map((item) =>
      item === 2
        ? { error: { code: "QUEUE_FULL", message: "full", retryAfterMs: 5 } }
        : { ok: item },
    ),
  );
  const [first, second] = await Promise.allSettled([gather.ask(1), gather.ask(2)]);
  assert.deepEqual(first, { status: "fulfilled", value: 1 });
  assert.ok(second.status === "rejected" && second.reason instanceof SluiceError);
  assert.equal(second.reason.code, "QUEUE_FULL");
  assert.equal(second.reason.retryAfterMs, 5);
});

test("a call that fails as a whole fails each of its items", async () => {
  const gather = new Gather<number, number>(async () => {
    throw new SluiceError("LOG_FAILED", "no space left");
  });
  const results = await Promise.allSettled([gather.ask(1), gather.ask(2)]);
  for (const result of results) {
    assert.ok(result.status === "rejected");
    assert.equal(result.reason.code, "LOG_FAILED");
  }
  assert.equal(gather.size, 0);
});

test("an item without an answer is refused and does not wait forever", async () => {
  const gather = new Gather<number, number>(async () => []);
  await assert.rejects(gather.ask(1), { code: "INTERNAL" });
});

test("an item counts from the time it comes until it is answered", async () => {
  const { gather } = doubling();
  assert.equal(gather.size, 0);
  const answer = gather.ask(1);
  assert.equal(gather.size, 1);
  await answer;
  assert.equal(gather.size, 0);
});
