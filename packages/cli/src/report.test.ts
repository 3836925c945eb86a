import assert from "node:assert/strict";
import { test } from "node:test";
import { type ErrorCode, SluiceError } from "@sluice/protocol";
import { EXIT } from "./command.ts";
import { exitCodeOf, wantsJson, wordsOfError } from "./report.ts";

test("each kind of failure has its exit code", () => {
  const codes: [ErrorCode, number][] = [
    ["INVALID", EXIT.misuse],
    ["JOB_NOT_FOUND", EXIT.wrong],
    ["DISCONNECTED", EXIT.unreachable],
    ["UNAVAILABLE", EXIT.unreachable],
    ["TIMEOUT", EXIT.unreachable],
  ];
  for (const [code, exit] of codes) assert.equal(exitCodeOf(new SluiceError(code, "x")), exit);
  assert.equal(exitCodeOf(new TypeError("x")), EXIT.unexpected);
});

test("with --json an error is one line of JSON", () => {
  const error = new SluiceError("JOB_NOT_FOUND", "there is no job a1", { id: "a1" });
  const said = JSON.parse(wordsOfError(error, true) ?? "");
  assert.deepEqual(said, { error: error.toJSON() });
  assert.equal(wordsOfError(error, false), "there is no job a1");
  assert.equal(wordsOfError(new TypeError("x"), false), undefined);
  assert.equal(JSON.parse(wordsOfError(new TypeError("x"), true) ?? "").error.code, "INTERNAL");
});

test("an error whose library has emptied its stack is still named", () => {
  const error = new Error("connection disconnected");
  error.stack = "";
  const said = JSON.parse(wordsOfError(error, true) ?? "").error;
  assert.equal(said.message, "Error: connection disconnected");
});

test("--json of a program that is run for each job is the program's own", () => {
  assert.equal(wantsJson(["consume", "q", "--json"]), true);
  assert.equal(wantsJson(["consume", "q", "--", "jq", "--json"]), false);
});
