import assert from "node:assert/strict";
import { test } from "node:test";
import { parsePostgresAddress, withoutLogin } from "./options.ts";

test("a refused address is shown without its password", () => {
  for (const address of [
    "postgres://me:sec/ret@host/db",
    "postgres://me:sec#ret@host/db",
    "http://me:secret@host/db",
    "http://host/db?password=secret",
  ]) {
    assert.throws(
      () => parsePostgresAddress("log", address),
      (error: Error) => {
        assert.match(error.message, /log must be an address like/);
        assert.doesNotMatch(JSON.stringify(error) + error.message, /sec|ret/);
        return true;
      },
    );
  }
});

test("an address is shown without user and password, wherever they are", () => {
  assert.equal(withoutLogin("postgres://me:secret@host/db"), "postgres://host/db");
  assert.equal(
    withoutLogin("postgres://host/db?user=me&password=secret&sslmode=require"),
    "postgres://host/db?sslmode=require",
  );
  assert.equal(withoutLogin(7), 7);
});
