import assert from "node:assert/strict";
import { test } from "node:test";
import { SluiceError } from "@sluice/protocol";
import { ISSUES_MAX } from "./limits.ts";
import { isSchema, type SchemaResult, type StandardSchema, validate } from "./schema.ts";

const schemaOf = (
  check: (value: unknown) => SchemaResult<unknown> | Promise<SchemaResult<unknown>>,
): StandardSchema => ({ "~standard": { version: 1, vendor: "test", validate: check } });

test("what the schema makes of a value is taken", () => {
  assert.equal(
    validate(
      schemaOf((value) => ({ value: Number(value) + 1 })),
      "1",
    ),
    2,
  );
});

test("a schema that waits is waited for", async () => {
  assert.equal(
    await validate(
      schemaOf(async (value) => ({ value })),
      5,
    ),
    5,
  );
  const refusing = schemaOf(async () => ({ issues: [{ message: "no" }] }));
  await assert.rejects(Promise.resolve(validate(refusing, 5)), { code: "SCHEMA" });
});

test("lists issues with the path of the field that each is about", () => {
  const schema = schemaOf(() => ({
    issues: [
      { message: "is no address", path: ["to", 0, { key: "mail" }] },
      { message: "is missing" },
    ],
  }));
  assert.throws(
    () => validate(schema, {}),
    (error) => {
      assert.ok(error instanceof SluiceError && error.code === "SCHEMA");
      assert.equal(error.message, "payload.to[0].mail: is no address; payload: is missing");
      assert.equal(error.details.field, "payload.to[0].mail");
      return true;
    },
  );
});

test("a flood of issues is cut", () => {
  const issues = Array.from({ length: ISSUES_MAX + 5 }, (_, i) => ({ message: `${i}` }));
  const schema = schemaOf(() => ({ issues }));
  assert.throws(
    () => validate(schema, {}),
    (error) => (error as SluiceError).message.split(";").length === ISSUES_MAX,
  );
});

test("a schema that throws or rejects says no as well", async () => {
  const throwing = schemaOf(() => {
    throw new Error("broken");
  });
  assert.throws(() => validate(throwing, {}), { code: "SCHEMA", message: "payload: broken" });
  const rejecting = schemaOf(() => Promise.reject(new Error("broken")));
  await assert.rejects(Promise.resolve(validate(rejecting, {})), { code: "SCHEMA" });
});

test("a schema is known by its interface, whether object or function", () => {
  assert.equal(isSchema(schemaOf((value) => ({ value }))), true);
  assert.equal(
    isSchema(
      Object.assign(
        () => {},
        schemaOf((value) => ({ value })),
      ),
    ),
    true,
  );
  for (const other of [
    undefined,
    null,
    5,
    {},
    { "~standard": {} },
    { "~standard": { version: 2 } },
  ]) {
    assert.equal(isSchema(other), false);
  }
});
