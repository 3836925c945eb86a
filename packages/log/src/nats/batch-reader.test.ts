import assert from "node:assert/strict";
import { test } from "node:test";
import { crc32 } from "node:zlib";
import { BatchReader } from "./batch-reader.ts";
import { BREAK, encodeMessage, FACTS, FENCE, type MessageHead, TRIM } from "./message.ts";

const HEAD = { index: 0, lengthBytes: 0, partBytes: 0 };
const fence = (position: number, index = 0): Uint8Array =>
  encodeMessage({ ...HEAD, kind: FENCE, index, position, fence: position }, new Uint8Array(0));
const pause = (): Uint8Array =>
  encodeMessage({ ...HEAD, kind: BREAK, position: 0, fence: 0 }, new Uint8Array(0));
const note = (position: number, owner: number): Uint8Array =>
  encodeMessage({ ...HEAD, kind: TRIM, position, fence: owner }, new Uint8Array(0));

/** A part of a batch whose facts are its text. */
function part(text: string, position: number, owner: number, index = 0, partBytes = 4): Uint8Array {
  const facts = Buffer.from(text);
  const head: MessageHead = {
    ...{ kind: FACTS, index, lengthBytes: facts.length, partBytes, position, fence: owner },
  };
  return encodeMessage(head, facts.subarray(index * partBytes, (index + 1) * partBytes));
}

function read(messages: readonly Uint8Array[], first = 1): string[] {
  const reader = new BatchReader("test");
  return messages.flatMap((message, index) => {
    const batch = reader.take(first + index, message);
    return batch === undefined ? [] : [`${batch.position} ${Buffer.from(batch.facts)}`];
  });
}

test("batches of one message and of several are put together", () => {
  const messages = [fence(1), part("a", 2, 1), part("", 3, 1), part("abcdef", 4, 1)];
  messages.push(part("abcdef", 4, 1, 1), note(6, 1), part("b", 7, 1));
  assert.deepEqual(read(messages), ["2 a", "3 ", "4 abcdef", "7 b"]);
});

test("what a trim has left begins anywhere", () => {
  assert.deepEqual(read([part("a", 40, 7), part("b", 41, 7)], 40), ["40 a", "41 b"]);
});

test("what an owner wrote behind a fence or a break of another is passed over", () => {
  const first = [fence(1), part("a", 2, 1)];
  assert.deepEqual(read([...first, fence(3), part("x", 4, 1), part("b", 5, 3)]), ["2 a", "5 b"]);
  const broken = [...first, pause(), part("x", 4, 1), fence(5), part("b", 6, 5)];
  assert.deepEqual(read(broken), ["2 a", "6 b"]);
});

test("a stray message of a fence that does not stand ends what its predecessor may write", () => {
  // The first message of that fence was refused, and the second has found a place.
  const messages = [fence(1), part("a", 2, 1), fence(2, 1), part("x", 4, 1), fence(5)];
  assert.deepEqual(read([...messages, part("b", 6, 5)]), ["2 a", "6 b"]);
});

test("a batch that is not whole before a fence is passed over", () => {
  const begun = [fence(1), part("abcdef", 2, 1)];
  assert.deepEqual(read([...begun, fence(3), part("b", 4, 3)]), ["4 b"]);
});

test("a message of a newer format is told as such", () => {
  const newer = part("a", 2, 1);
  newer[7] = 2;
  new DataView(newer.buffer).setUint32(0, crc32(newer.subarray(4)), true);
  assert.throws(() => read([fence(1), newer]), { code: "LOG_VERSION" });
});

test("what does not fit is damage", () => {
  const begun = [fence(1), part("abcdef", 2, 1)];
  for (const [what, messages] of Object.entries({
    "a part is missing": [...begun, part("b", 3, 1)],
    "a part is missing before a note": [...begun, note(3, 1)],
    "a part of nothing": [fence(1), part("abcdef", 1, 1, 1)],
    "a part of a batch of another size": [...begun, part("abcdefg", 2, 1, 1)],
    "its fence is missing": [fence(1), part("a", 2, 1), part("b", 3, 2)],
    "another place": [fence(1), part("a", 3, 1)],
    "a changed byte": [fence(1), part("a", 2, 1), part("a", 3, 1).with(40, 0)],
    "too short": [fence(1), part("a", 2, 1).subarray(0, 39)],
    "a body that is cut": [fence(1), part("abc", 2, 1).subarray(0, 42)],
    "no message of ours": [fence(1), Buffer.from("x".repeat(100))],
  })) {
    assert.throws(() => read(messages), { code: "LOG_DAMAGED" }, what);
  }
});
