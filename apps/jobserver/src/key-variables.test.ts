import assert from "node:assert/strict";
import { test } from "node:test";
import { readConfig } from "./config.ts";

test("a short key and an open address are refused by the name of their variable", () => {
  assert.throws(() => readConfig({ API_KEY: "short" }), {
    variable: "API_KEY",
    message: 'API_KEY must be a text of at least 32 characters, got "5 characters"',
  });
  assert.throws(() => readConfig({ LISTEN_ADDRESS: "0.0.0.0:8080" }), {
    variable: "LISTEN_ADDRESS",
    message: 'LISTEN_ADDRESS must be a loopback address unless API_KEY is set, got "0.0.0.0"',
  });
  const API_KEY = "a-key-that-is-long-enough-to-be-one";
  assert.equal(readConfig({ API_KEY, LISTEN_ADDRESS: "0.0.0.0:8080" }).host, "0.0.0.0");
});
