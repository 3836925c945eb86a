import assert from "node:assert/strict";
import { test } from "node:test";
import { isPassing, reasonOf } from "./errors.ts";

const CASES: readonly [code: string, sentence: RegExp][] = [
  ["55P03", /lock_timeout/],
  ["57014", /statement_timeout/],
  ["25P03", /idle_in_transaction_session_timeout/],
  ["25P04", /transaction_timeout/],
  ["57P05", /idle_session_timeout/],
];

test("a limit of the role that ends a statement or a session passes", () => {
  for (const [code, sentence] of CASES) {
    const error = Object.assign(new Error("as PostgreSQL says"), { code });
    assert.equal(isPassing(error), true, code);
    assert.match(reasonOf(error), sentence);
  }
});
