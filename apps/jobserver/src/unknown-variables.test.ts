import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { KNOWN_VARIABLES, unknownVariables } from "./unknown-variables.ts";

test("a misspelt variable is found, and those of other programs are not", () => {
  const env = { FAST_QUEUE_SIZES: "3", FAST_QUEUE_SIZE: "3", JOB_NAME: "ci", PATH: "/bin" };
  assert.deepEqual(unknownVariables(env), ["FAST_QUEUE_SIZES"]);
});

test("every variable that is read is known", () => {
  const source = readFileSync(new URL("./config.ts", import.meta.url), "utf8");
  const read = [...source.matchAll(/"([A-Z]+(?:_[A-Z]+)+)"/g)].map((match) => match[1]!);
  assert.deepEqual([...new Set(read)].sort(), [...KNOWN_VARIABLES].sort());
});
