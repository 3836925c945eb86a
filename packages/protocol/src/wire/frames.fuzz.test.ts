// Bytes of no sense, and frames with some bytes changed, cut off, doubled or put in: each is read, or
// refused with INVALID. Nothing else may be thrown, and nothing may take long.

import assert from "node:assert/strict";
import { test } from "node:test";
import { SluiceError } from "../errors.ts";
import { FrameReader } from "./index.ts";
import { frameOf, GREETINGS, SAMPLES, type Sample } from "./sample-frames.ts";
import { FrameWriter } from "./writer.ts";

const COUNT = Number(process.env.FUZZ_COUNT ?? 20_000);
const LONGEST_MS = 50;

const readers = [...SAMPLES, ...GREETINGS];
const valid = [...SAMPLES.map(frameOf), ...GREETINGS.map(greetingOf)];

function greetingOf({ write }: Sample): Uint8Array {
  const writer = new FrameWriter();
  write(writer);
  return writer.take();
}

function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

function below(random: () => number, limit: number): number {
  return Math.floor(random() * limit);
}

function mutated(random: () => number): Uint8Array {
  const bytes = [...valid[below(random, valid.length)]!];
  for (let i = below(random, 8); i >= 0; i--) {
    const at = below(random, bytes.length);
    const kind = below(random, 5);
    if (kind === 0) bytes[at] = below(random, 256);
    else if (kind === 1) bytes.splice(at);
    else if (kind === 2) bytes.splice(at, 0, ...bytes.slice(0, below(random, bytes.length)));
    else if (kind === 3) bytes.splice(at, 4, 0xff, 0xff, 0xff, 0xff);
    else bytes[at] = (bytes[at] ?? 0) ^ (1 << below(random, 8));
    if (bytes.length === 0) bytes.push(below(random, 256));
  }
  return Uint8Array.from(bytes);
}

function noise(random: () => number): Uint8Array {
  return Uint8Array.from({ length: below(random, 200) }, () => below(random, 256));
}

/** Each frame of the message by one reader, as a server would by its kind. */
function readAll(message: Uint8Array, read: (reader: FrameReader) => unknown): void {
  try {
    const reader = new FrameReader(message);
    while (reader.next()) {
      read(reader);
      reader.done();
    }
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error;
    assert.equal(error.code, "INVALID");
  }
}

for (const [name, make] of [
  ["noise", noise],
  ["frames with mistakes", mutated],
] as const) {
  test(`${COUNT} inputs of ${name} are read or refused`, () => {
    const random = randomOf(name.length);
    for (let i = 0; i < COUNT; i++) {
      const message = make(random);
      const from = process.threadCpuUsage();
      const { read } = readers[i % readers.length]!;
      readAll(message, read);
      // Processor time: what other programs take from this one says nothing of it.
      const ms = process.threadCpuUsage(from).user / 1000;
      assert.ok(ms < LONGEST_MS, `input ${i} took ${ms} ms`);
    }
  });
}

test("a mistake in each single byte of each frame is read or refused", () => {
  for (const [index, frame] of valid.entries()) {
    for (let at = 0; at < frame.length; at++) {
      for (const value of [0, 1, 0x7f, 0x80, 0xff]) {
        const copy = frame.slice();
        copy[at] = value;
        readAll(copy, readers[index]!.read);
      }
    }
  }
});
