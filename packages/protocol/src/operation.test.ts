import assert from "node:assert/strict";
import { test } from "node:test";
import { checkSameCall, partOfOperation, titleOf } from "./operation.ts";

const ADD = titleOf("add mail", 2, [{ a: 1 }, { a: 2 }]);

test("the same call may be made again", () => {
  checkSameCall("o", titleOf("add mail", 2, [{ a: 1 }, { a: 2 }]), ADD);
  checkSameCall("o", ADD, "add mail 2");
});

test("another call, another count and other contents are refused", () => {
  const conflict = { code: "CONFLICT" };
  for (const other of [
    titleOf("add mail", 2, [{ a: 1 }, { a: 3 }]),
    titleOf("add mail", 1, [{ a: 1 }]),
    titleOf("add post", 2, [{ a: 1 }, { a: 2 }]),
    "add mail 3",
    "add 2 2",
  ]) {
    assert.throws(() => checkSameCall("o", ADD, other), conflict, other);
    assert.throws(() => checkSameCall("o", other, ADD), conflict, other);
  }
});

test("the refusal says what the id was used for", () => {
  const message =
    /^operation id "o" was already used for add mail \(2 items, with other contents\)$/;
  assert.throws(() => checkSameCall("o", titleOf("add mail", 2, "x"), ADD), { message });
  assert.throws(() => checkSameCall("o", titleOf("ack", 1, "x"), titleOf("purge q", 1)), {
    message: 'operation id "o" was already used for purge q (1 item)',
  });
});

test("a part of a numbered call is numbered, so that it is remembered as long", () => {
  assert.equal(partOfOperation("mine", "1"), "mine.1");
  assert.equal(partOfOperation("numbered:relay:17", "1"), "numbered:relay.1:17");
  assert.equal(partOfOperation("numbered:a:b:17", "links.2"), "numbered:a:b.links.2:17");
});
