import assert from "node:assert/strict";
import { test } from "node:test";
import {
  JSON_BYTES_MAX,
  JSON_NAMES_MAX,
  JSON_VALUES_MAX,
  SMALL_CALL_BYTES_MAX,
} from "../limits.ts";
import { readCall, writeCall } from "./calls.ts";
import { Channel } from "./channel.ts";
import { KIND } from "./kinds.ts";
import { readNewJobs } from "./new-jobs.ts";
import { FrameReader } from "./reader.ts";
import { FrameWriter } from "./writer.ts";

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Frames as a client writes them that checks nothing. */
function reading(calls: readonly string[], name = "storeWrite", isTrusted = false): FrameReader {
  const writer = new FrameWriter();
  for (const json of calls) {
    writer.begin(KIND.call, 1);
    writer.short(name);
    writer.blob(encode(json));
    writer.end();
  }
  return new FrameReader(writer.take(), { isTrusted });
}

function read(json: string, name?: string, isTrusted?: boolean): unknown[] {
  const reader = reading([json], name, isTrusted);
  reader.next();
  return readCall(reader).args;
}

/** Arguments with so many values: two brackets, and commas. */
const values = (count: number): string => `["s",[${"0,".repeat(count - 3)}0]]`;

/** Arguments with so many names that differ. */
function names(count: number, prefix = "k"): string {
  return `["s",{${Array.from({ length: count }, (_, i) => `"${prefix}${i}":1`).join(",")}}]`;
}

const text = (bytes: number): string => `["${"x".repeat(bytes - 4)}"]`;

const TOO_LARGE = { code: "PAYLOAD_TOO_LARGE" };
const over = (limit: number, field = "storeWrite") => ({
  ...TOO_LARGE,
  details: { field, limit },
});

test("a call is read up to the number of values, and refused beyond it with its name", () => {
  assert.equal(read(values(JSON_VALUES_MAX - 1)).length, 2);
  assert.equal(read(values(JSON_VALUES_MAX)).length, 2);
  assert.throws(() => read(values(JSON_VALUES_MAX + 1)), over(JSON_VALUES_MAX));
});

test("commas, brackets and colons in texts do not count", () => {
  const inText = JSON.stringify([',[{:"\\'.repeat(JSON_VALUES_MAX / 4)]);
  assert.equal(read(inText).length, 1);
});

test("names that differ are counted, names that repeat are not", () => {
  // A few of many names share a hash, so some more than the limit are let through.
  assert.equal(read(names(JSON_NAMES_MAX)).length, 2);
  assert.throws(() => read(names(1.5 * JSON_NAMES_MAX)), over(JSON_NAMES_MAX));
  const long = "n".repeat(100);
  assert.throws(() => read(names(JSON_NAMES_MAX + 1, long)), over(JSON_NAMES_MAX));
  const same = `[${'{"a":1,"b" : {"a":"c"}},'.repeat(JSON_NAMES_MAX)}0]`;
  assert.equal(read(`["s",${same}]`).length, 2);
});

test("a call is bounded by its bytes, one that takes no large values by fewer", () => {
  assert.equal(read(text(JSON_BYTES_MAX)).length, 1);
  assert.throws(() => read(text(JSON_BYTES_MAX + 1)), over(JSON_BYTES_MAX));
  assert.equal(read(text(SMALL_CALL_BYTES_MAX), "why").length, 1);
  const refused = over(SMALL_CALL_BYTES_MAX, "why");
  assert.throws(() => read(text(SMALL_CALL_BYTES_MAX + 1), "why"), refused);
});

test("the calls of a message count together, and one that is refused leaves the next whole", () => {
  const half = values(JSON_VALUES_MAX / 2);
  const reader = reading([half, half, "[[]]", "0"]);
  for (let i = 0; i < 2; i++) {
    assert.ok(reader.next());
    readCall(reader);
    reader.done();
  }
  assert.ok(reader.next());
  assert.throws(() => readCall(reader), over(JSON_VALUES_MAX));
  reader.skip();
  assert.ok(reader.next());
  assert.throws(() => readCall(reader), { code: "INVALID" });
});

test("a sender that is trusted is not bounded, but for the depth", () => {
  assert.equal(read(values(2 * JSON_VALUES_MAX), "storeWrite", true).length, 2);
  const deep = "[".repeat(601) + "]".repeat(601);
  assert.throws(() => read(deep, "storeWrite", true), { code: "INVALID" });
  assert.throws(() => read(deep), { code: "INVALID" });
});

test("the options of the jobs of a batch count together", () => {
  const writer = new FrameWriter();
  writer.begin(KIND.add, 1);
  writer.u32(2);
  for (let i = 0; i < 2; i++) {
    writer.u8(64);
    writer.blob(new Uint8Array(0));
    writer.blob(encode(`{"ttlMs":${values(JSON_VALUES_MAX / 2 + 1)}}`));
  }
  writer.end();
  const reader = new FrameReader(writer.take());
  reader.next();
  assert.throws(() => readNewJobs(reader), over(JSON_VALUES_MAX, "add"));
});

test("the writer refuses what the reader would", () => {
  const write = (count: number): void => {
    const writer = new FrameWriter();
    writer.begin(KIND.call, 1);
    writeCall(writer, "storeWrite", JSON.parse(values(count)));
  };
  write(JSON_VALUES_MAX);
  assert.throws(() => write(JSON_VALUES_MAX + 1), over(JSON_VALUES_MAX));
});

test("a channel begins another message where one would have too much JSON", () => {
  const messages: Uint8Array[] = [];
  const channel = new Channel({ defer: () => {}, isResumable: false });
  const socket = { bufferedBytes: 0, send: (message: Uint8Array) => messages.push(message) };
  channel.attach(socket as never, 0);
  const args = JSON.parse(names(0.6 * JSON_NAMES_MAX));
  const write = (writer: FrameWriter): void => writeCall(writer, "storeWrite", args);
  const kept = channel.frame(KIND.call, 1, write).slice();
  channel.frame(KIND.call, 2, write);
  channel.frame(KIND.ping, 4, () => {});
  channel.repeat(kept);
  channel.flush();
  const read = messages.map((message) => {
    const reader = new FrameReader(message);
    const operations: number[] = [];
    while (reader.next()) {
      operations.push(reader.operation);
      if (reader.kind === KIND.call) assert.deepEqual(readCall(reader).args, args);
    }
    return operations;
  });
  assert.deepEqual(read, [[1], [2, 4], [1]]);
});

test("the JSON of a frame that was dropped does not count", () => {
  const writer = new FrameWriter();
  const args = JSON.parse(values(JSON_VALUES_MAX));
  writer.begin(KIND.ping, 1);
  writer.end();
  for (let i = 0; i < 2; i++) {
    writer.begin(KIND.call, 1);
    writeCall(writer, "storeWrite", args);
    if (i === 0) writer.drop();
    else writer.end();
  }
  assert.equal(writer.isOverfull, false);
});
