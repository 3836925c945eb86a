import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { SluiceError } from "@sluice/protocol";
import { toStreamError } from "./errors.ts";

test("the text of an unexpected error is written here, and not sent", async () => {
  const warned = once(process, "warning");
  const sent = toStreamError(new TypeError("Cannot read properties of undefined"));
  assert.equal(sent.code, "INTERNAL");
  assert.doesNotMatch(JSON.stringify(sent), /Cannot read/);
  const [warning] = (await warned) as [Error];
  assert.match(warning.message, /Cannot read properties/);
});

test("an error of the catalogue is sent as it is", () => {
  const error = new SluiceError("QUEUE_NOT_FOUND", "there is no queue q", { queue: "q" });
  assert.equal(toStreamError(error), error);
});
