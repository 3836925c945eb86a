import assert from "node:assert/strict";
import { test } from "node:test";
import { crc32 } from "node:zlib";
import type { Anchor } from "../log.ts";
import { BatchReader } from "./batch-reader.ts";
import { chained } from "./chain.ts";
import { BREAK, encodeMessage, FACTS, FENCE, type MessageHead, TRIM } from "./message.ts";

/** A message that is made when the chain before it is known. */
type Draft = (chain: number) => Uint8Array;

const NO_BODY = new Uint8Array(0);
const HEAD = { index: 0, lengthBytes: 0, partBytes: 0 };
/** A fence has one message here, unless it says otherwise. */
const fence =
  (position: number, index = 0, count = 1): Draft =>
  (chain) =>
    encodeMessage(
      { ...HEAD, kind: FENCE, index, partBytes: count, position, fence: position, chain },
      NO_BODY,
    );
const pause = (): Draft => (chain) =>
  encodeMessage({ ...HEAD, kind: BREAK, position: 0, fence: 0, chain }, NO_BODY);
const note =
  (position: number, owner: number): Draft =>
  (chain) =>
    encodeMessage({ ...HEAD, kind: TRIM, position, fence: owner, chain }, NO_BODY);

/** A part of a batch whose facts are its text. */
function part(text: string, position: number, owner: number, index = 0, partBytes = 4): Draft {
  const facts = Buffer.from(text);
  const head: Omit<MessageHead, "chain"> = {
    ...{ kind: FACTS, index, lengthBytes: facts.length, partBytes, position, fence: owner },
  };
  const body = facts.subarray(index * partBytes, (index + 1) * partBytes);
  return (chain) => encodeMessage({ ...head, chain }, body);
}

function write(drafts: readonly Draft[], first = 1): Uint8Array[] {
  let chain = first === 1 ? 0 : 77;
  return drafts.map((draft) => {
    const message = draft(chain);
    chain = chained(chain, message);
    return message;
  });
}

function readAll(messages: readonly Uint8Array[], first = 1, anchor?: Anchor): string[] {
  const reader = new BatchReader({ kind: "stream", name: "test" });
  const batches = messages.flatMap((message, index) => reader.take(first + index, message) ?? []);
  if (anchor !== undefined) reader.chain.checkAnchor(anchor);
  return batches.map(({ position, facts }) => `${position} ${Buffer.from(facts)}`);
}

const read = (drafts: readonly Draft[], first = 1): string[] =>
  readAll(write(drafts, first), first);

test("batches of one message and of several are put together", () => {
  const messages = [fence(1), part("a", 2, 1), part("", 3, 1), part("abcdef", 4, 1)];
  messages.push(part("abcdef", 4, 1, 1), note(6, 1), part("b", 7, 1));
  assert.deepEqual(read(messages), ["2 a", "3 ", "4 abcdef", "7 b"]);
});

test("a trimmed stream may begin at any position", () => {
  assert.deepEqual(read([part("a", 40, 7), part("b", 41, 7)], 40), ["40 a", "41 b"]);
});

test("skips what an owner wrote behind a fence or a break of another owner", () => {
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

test("skips an incomplete batch before a fence", () => {
  const begun = [fence(1), part("abcdef", 2, 1)];
  assert.deepEqual(read([...begun, fence(3), part("b", 4, 3)]), ["4 b"]);
});

test("reports a message of a newer format as such", () => {
  const newer = part("a", 2, 1)(0);
  newer[7] = 3;
  new DataView(newer.buffer).setUint32(0, crc32(newer.subarray(4)), true);
  assert.throws(() => read([fence(1), () => newer]), { code: "LOG_VERSION" });
});

test("reports a batch behind another history as damage", () => {
  const ours = write([fence(1), part("a", 2, 1), part("b", 3, 1), part("c", 4, 1)]);
  const theirs = write([fence(1), part("a", 2, 1), part("x", 3, 1)]);
  const mixed = [ours[0]!, ours[1]!, theirs[2]!, ours[3]!];
  assert.deepEqual(readAll(ours), ["2 a", "3 b", "4 c"]);
  assert.throws(() => readAll(mixed), { code: "LOG_DAMAGED", details: flawAt(4) });
});

test("counts messages that are passed over as part of the history", () => {
  const before = [fence(1), part("a", 2, 1), pause()];
  const ours = write([...before, part("x", 4, 1), fence(5), part("b", 6, 5)]);
  const theirs = write([...before, part("y", 4, 1)]);
  assert.deepEqual(readAll(ours), ["2 a", "6 b"]);
  const mixed = ours.with(3, theirs[3]!);
  assert.throws(() => readAll(mixed), { code: "LOG_DAMAGED", details: flawAt(6) });
});

test("reports a stream that lacks the anchor, or has another message there", () => {
  const ours = write([fence(1), part("a", 2, 1), part("b", 3, 1)]);
  const chain = ours.reduce(chained, 0);
  const theirs = write([fence(1), part("a", 2, 1), part("x", 3, 1)]);
  assert.deepEqual(readAll(ours, 1, { position: 3, chain }), ["2 a", "3 b"]);
  for (const stream of [theirs, ours.slice(0, 2)]) {
    assert.throws(() => readAll(stream, 1, { position: 3, chain }), { code: "LOG_DAMAGED" });
  }
});

test("ignores an anchor that was trimmed away", () => {
  const kept = write([part("a", 40, 7), part("b", 41, 7)], 40);
  assert.deepEqual(readAll(kept, 40, { position: 12, chain: 1 }), ["40 a", "41 b"]);
});

test("reads messages of the version without a chain, and chains behind them", () => {
  const old = [fence(1), part("a", 2, 1)].map((draft) => unchained(draft(0)));
  const since = [fence(3), part("b", 4, 3)];
  let chain = old.reduce(chained, 0);
  const messages = since.map((draft) => {
    const message = draft(chain);
    chain = chained(chain, message);
    return message;
  });
  assert.deepEqual(readAll([...old, ...messages]), ["2 a", "4 b"]);
});

/** The same message as version 1 wrote it. */
function unchained(message: Uint8Array): Uint8Array {
  const old = Buffer.concat([message.subarray(0, 40), message.subarray(44)]);
  old[7] = 1;
  old.writeUInt32LE(crc32(old.subarray(4)), 0);
  return old;
}

const flawAt = (sequence: number): object => ({
  stream: "test",
  sequence,
  what: "it does not continue the history of the message before it",
});

test("reports a message that does not fit as damage", () => {
  const begun = [fence(1), part("abcdef", 2, 1)];
  for (const [what, messages] of Object.entries<Draft[]>({
    "a part is missing": [...begun, part("b", 3, 1)],
    "a part is missing before a note": [...begun, note(3, 1)],
    "a part of nothing": [fence(1), part("abcdef", 1, 1, 1)],
    "a part of a batch of another size": [...begun, part("abcdefg", 2, 1, 1)],
    "its fence is missing": [fence(1), part("a", 2, 1), part("b", 3, 2)],
    "another place": [fence(1), part("a", 3, 1)],
    "a changed byte": [fence(1), part("a", 2, 1), (chain) => part("a", 3, 1)(chain).with(44, 0)],
    "too short": [fence(1), (chain) => part("a", 2, 1)(chain).subarray(0, 43)],
    "a body that is cut": [fence(1), (chain) => part("abc", 2, 1)(chain).subarray(0, 46)],
    "no message of ours": [fence(1), () => Buffer.from("x".repeat(100))],
    "a fence of which a message is missing": [fence(1, 0, 2), part("a", 2, 1)],
    "a fence whose first message is another": [
      ...[fence(1), part("a", 2, 1), part("x", 3, 1), fence(3, 1, 2), part("b", 5, 3)],
    ],
  })) {
    assert.throws(() => read(messages), { code: "LOG_DAMAGED" }, what);
  }
});
