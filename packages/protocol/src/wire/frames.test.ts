import assert from "node:assert/strict";
import { test } from "node:test";
import { FRAME_BYTES_MAX } from "../limits.ts";
import { PreparedJob } from "../options/job-options.ts";
import { readCall, writeCall } from "./calls.ts";
import { BATCH_MAX, FrameReader, FrameWriter, KIND, readHello, readTokens } from "./index.ts";
import { frameOf, GREETINGS, SAMPLES } from "./sample-frames.ts";

/** A reader at the one frame that was written like this. */
function written(kind: number, write: (writer: FrameWriter) => void): FrameReader {
  const writer = new FrameWriter();
  writer.begin(kind, 1);
  write(writer);
  writer.end();
  const reader = new FrameReader(writer.take());
  reader.next();
  return reader;
}

for (const sample of SAMPLES) {
  test(`${sample.name}: what is written is read again`, () => {
    const reader = new FrameReader(frameOf(sample));
    assert.ok(reader.next());
    assert.deepEqual([reader.kind, reader.operation], [KIND.add, 7]);
    assert.deepEqual(sample.read(reader), sample.value);
    reader.done();
    assert.equal(reader.next(), false);
  });
}

for (const { name, value, write, read } of GREETINGS) {
  test(`${name}: what is written is read again`, () => {
    const writer = new FrameWriter();
    write(writer);
    const reader = new FrameReader(writer.take());
    reader.next();
    assert.deepEqual(read(reader), value);
  });
}

test("many frames travel in one message, and messages do not disturb each other", () => {
  const writer = new FrameWriter();
  const messages: Uint8Array[] = [];
  for (let message = 0; message < 50; message++) {
    for (let frame = 0; frame < 20; frame++) {
      writer.begin(KIND.ack, message * 20 + frame);
      writer.text("x".repeat(frame * 50));
      writer.end();
    }
    messages.push(writer.take());
  }
  for (const [index, message] of messages.entries()) {
    const reader = new FrameReader(message);
    for (let frame = 0; frame < 20; frame++) {
      assert.ok(reader.next());
      assert.equal(reader.operation, index * 20 + frame);
      assert.equal(reader.text(), "x".repeat(frame * 50));
    }
    assert.equal(reader.next(), false);
  }
});

test("a frame that is larger than a block is kept whole, and so is what was before it", () => {
  const writer = new FrameWriter();
  writer.begin(KIND.ack, 1);
  writer.text("before");
  writer.end();
  writer.begin(KIND.add, 2);
  writer.blob(new Uint8Array(FRAME_BYTES_MAX).fill(9));
  writer.end();
  const reader = new FrameReader(writer.take());
  reader.next();
  assert.equal(reader.text(), "before");
  reader.next();
  assert.equal(reader.blob().length, FRAME_BYTES_MAX);
});

test("payloads are views of the message, not copies", () => {
  const message = frameOf(SAMPLES[0]!);
  const reader = new FrameReader(message);
  reader.next();
  const [, job] = SAMPLES[0]!.read(reader) as { payload: Uint8Array }[];
  assert.equal(job?.payload.buffer, message.buffer);
});

test("as many items as a batch may have are read, and one more is refused before any is", () => {
  const tokens = (count: number): FrameReader =>
    written(KIND.giveBack, (writer) => {
      writer.u32(count);
      for (let i = 0; i < count; i++) writer.short("");
    });
  assert.equal(readTokens(tokens(BATCH_MAX)).length, BATCH_MAX);
  assert.throws(() => readTokens(tokens(BATCH_MAX + 1)), { code: "INVALID" });
});

test("a count that the bytes cannot hold allocates nothing", () => {
  const reader = written(KIND.giveBack, (writer) => writer.u32(9999));
  assert.throws(() => readTokens(reader), { code: "INVALID" });
});

test("a greeting of another version names it, whatever follows", () => {
  const reader = written(KIND.hello, (writer) => {
    writer.u32(0x49554c53);
    writer.u16(9);
  });
  assert.throws(() => readHello(reader), {
    code: "INVALID",
    details: { field: "version", value: 9 },
  });
});

test("JSON that is nested too deep is refused, brackets in texts do not count", () => {
  const read = (json: string): unknown => {
    const bytes = new TextEncoder().encode(json);
    return written(KIND.call, (writer) => writer.blob(bytes)).json();
  };
  assert.throws(() => read("[".repeat(601) + "]".repeat(601)), { code: "INVALID" });
  assert.ok(read("[".repeat(600) + "]".repeat(600)));
  const text = JSON.stringify('["\\{'.repeat(1000));
  assert.equal(read(text), '["\\{'.repeat(1000));
});

test("jobs of a flow travel with the options that they have, and no others", () => {
  const payload = new Uint8Array([1, 2]);
  const first = Object.assign(new PreparedJob(), { queue: "a", payload, delayMs: 5_000, cost: 2 });
  const second = { queue: "b", payload: payload.subarray(1), after: [{ job: 0 }] };
  const flow = ["q", [first, second], { flow: "q/1" }];
  const sent = (): FrameReader =>
    written(KIND.call, (writer) => writeCall(writer, "addFlow", flow));
  assert.deepEqual(readCall(sent()), {
    name: "addFlow",
    args: [
      "q",
      [{ queue: "a", after: undefined, payload, delayMs: 5_000, cost: 2 }, { ...second }],
      { flow: "q/1" },
    ],
  });
  const reader = sent();
  reader.short();
  assert.deepEqual((reader.json() as unknown[])[1], [
    { queue: "a", payload: 0, delay: 5_000, cost: 2 },
    { queue: "b", payload: 1, after: [{ job: 0 }] },
  ]);
});
