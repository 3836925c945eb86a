import assert from "node:assert/strict";
import { test } from "node:test";
import { runnerOf, type Transaction } from "./transaction.ts";

class PrismaClient {
  $queryRaw(): void {}
}

class QueryRunner {
  async query(): Promise<unknown[]> {
    return [{ id: 1 }];
  }
}

class CallbackClient {
  query(): void {}
  unsafe = undefined;
}

const WANTED = "in.tx must be a transaction of pg, postgres, Drizzle or Kysely, got ";

test("names what is no transaction, and what is wanted", () => {
  for (const [value, name] of [
    [undefined, "undefined"],
    [null, "null"],
    ["postgres://127.0.0.1/app", '"postgres://127.0.0.1/app"'],
    [7, "7"],
    [{}, "an object"],
    [[], "an array"],
    [() => {}, "a function"],
    [new PrismaClient(), "an object of class PrismaClient"],
  ] as const) {
    const message = WANTED + name;
    const runner = () => runnerOf("in.tx", value as unknown as Transaction);
    assert.throws(runner, { code: "INVALID", message });
  }
});

test("names a client whose answers are not those of a driver that is known", async () => {
  const message = /^in.tx must be a transaction of .*, got an object/;
  for (const value of [
    new QueryRunner(),
    new CallbackClient(),
    { query: async () => ({ rows: undefined }) },
    { unsafe: async () => ({}) },
    { executeQuery: async () => undefined },
    { execute: async () => undefined },
  ]) {
    const run = runnerOf("in.tx", value as unknown as Transaction);
    await assert.rejects(run("SELECT $1", [1]), { code: "INVALID", message });
  }
});

test("answers the rows of each driver", async () => {
  const rows = [{ id: 7 }];
  for (const tx of [
    { query: async () => ({ rows }) },
    { unsafe: async () => rows },
    { executeQuery: async () => ({ rows }) },
    { execute: async () => ({ rows }) },
    { execute: async () => rows },
  ]) {
    assert.deepEqual(await runnerOf("in.tx", tx)("SELECT $1", [1]), rows);
  }
});
