import assert from "node:assert/strict";
import { test } from "node:test";
import { SluiceError } from "@sluice/protocol";
import { ByteReader } from "./byte-reader.ts";

const reader = (...bytes: number[]): ByteReader => new ByteReader(Uint8Array.from(bytes));

function damagedAt(offset: number): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof SluiceError);
    assert.equal(error.code, "LOG_DAMAGED");
    assert.equal(error.details.offset, offset);
    return true;
  };
}

/** 2^40 as a varint: a length that no chunk has. */
const HUGE = [0x80, 0x80, 0x80, 0x80, 0x80, 0x20];

test("nothing is read beyond the end", () => {
  assert.throws(() => reader().u8(), damagedAt(0));
  assert.throws(() => reader(0x80).varint(), damagedAt(1));
  assert.throws(() => reader(0x80).number(), damagedAt(1));
  assert.throws(() => reader(0x80, 0, 1, 2, 3).number(), damagedAt(2));
  assert.throws(() => reader(3, 65, 66).text(), damagedAt(1));
  assert.throws(() => reader(3, 65, 66).name(), damagedAt(1));
  assert.throws(() => reader(3, 65, 66).blob(), damagedAt(1));
  assert.throws(() => reader(2, 1, 65).names(), damagedAt(3));
});

test("a length is held against the bytes before anything is made of it", () => {
  assert.throws(() => reader(...HUGE, 1).text(), damagedAt(6));
  assert.throws(() => reader(...HUGE, 1).name(), damagedAt(6));
  assert.throws(() => reader(...HUGE, 1).blob(), damagedAt(6));
  assert.throws(() => reader(...HUGE, 0, 0).names(), damagedAt(8));
  assert.throws(() => reader(0x80, 0, ...HUGE, 1).text(), damagedAt(8));
});

test("a number has one form only, and ends at 2^53 - 1", () => {
  assert.throws(() => reader(0x81, 0).varint(), damagedAt(2));
  assert.throws(() => reader(0x80, 0).varint(), damagedAt(2));
  const most = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];
  assert.equal(reader(...most, 0x0f).varint(), Number.MAX_SAFE_INTEGER);
  assert.throws(() => reader(...most, 0x10).varint(), damagedAt(8));
  assert.throws(() => reader(...most, 0xff, 0x01).varint(), damagedAt(8));
});

test("a text that is not UTF-8 is damage, not another text", () => {
  assert.throws(() => reader(1, 0xff).text(), damagedAt(1));
  assert.throws(() => reader(1, 0xff).name(), damagedAt(1));
  assert.throws(() => reader(2, 0xc0, 0x80).text(), damagedAt(1));
  assert.throws(() => reader(3, 0xed, 0xa0, 0x80).text(), damagedAt(1));
  assert.throws(() => reader(0x80, 0, 3, 1, 1, 1).text(), damagedAt(3));
});

test("JSON that does not parse is damage, and the cause is kept", () => {
  assert.throws(
    () => reader(1, 0x7b).json(),
    (error) => damagedAt(0)(error) && (error as Error).cause instanceof SyntaxError,
  );
});

test("JSON of a million levels is read or refused, and nothing overflows", () => {
  const deep = Buffer.from("[".repeat(1_000_000));
  const bytes = Buffer.concat([Buffer.from([0xc0, 0x84, 0x3d]), deep]);
  assert.throws(() => new ByteReader(bytes).json(), damagedAt(0));
});

test("a flag or a truth value that is not known is one of a later version", () => {
  assert.equal(reader(5).flags(7), 5);
  assert.throws(() => reader(8).flags(7), { code: "LOG_VERSION" });
  assert.throws(() => reader(0x80, 0x80, 0x80, 0x80, 0x10).flags(7), { code: "LOG_VERSION" });
  assert.throws(() => reader(2).isTrue(), { code: "LOG_VERSION" });
});

test("bytes are a view without a copy, of the plain class", () => {
  const bytes = Buffer.from([2, 7, 8, 9]);
  const view = new ByteReader(bytes).blob();
  assert.deepEqual(view, Uint8Array.of(7, 8));
  assert.equal(view.buffer, bytes.buffer);
});
