import assert from "node:assert/strict";
import { test } from "node:test";
import { at } from "./api.ts";
import { eachJob, type Progress } from "./long-work.ts";

test("one job that is refused does not stop the others, and one sees how far it is", async () => {
  const told: Progress[] = [];
  const ids = Array.from({ length: 20 }, (_, i) => `j${i}`);
  const tally = await eachJob(
    ids,
    async (id) => {
      if (id === "j3") throw new Error("it had ended");
    },
    (progress) => told.push(progress),
    new AbortController().signal,
  );
  assert.equal(tally.done, 19);
  assert.deepEqual(tally.failed, [{ id: "j3", message: "it had ended" }]);
  assert.deepEqual(told.at(0), { done: 0, total: 20 });
  assert.deepEqual(told.at(-1), { done: 20, total: 20 });
});

test("what is stopped begins nothing more", async () => {
  const stop = new AbortController();
  let begun = 0;
  const ids = Array.from({ length: 100 }, (_, i) => `j${i}`);
  await eachJob(
    ids,
    async () => {
      begun++;
      stop.abort();
    },
    () => undefined,
    stop.signal,
  );
  assert.ok(begun <= 8, `${begun}`);
});

test("an address takes any name and leaves empty values out", () => {
  assert.equal(at(["queues", "a/b?", "jobs"]), "v1/queues/a%2Fb%3F/jobs");
  assert.equal(at(["x"], { search: "", limit: 5, cursor: undefined }), "v1/x?limit=5");
});
