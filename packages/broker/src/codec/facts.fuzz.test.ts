import assert from "node:assert/strict";
import { test } from "node:test";
import { SluiceError } from "@sluice/protocol";
import { random } from "@sluice/protocol/testing/random";
import { ByteReader } from "./byte-reader.ts";
import { ByteWriter } from "./byte-writer.ts";
import { decodeFact, encodeFact, FACT_KINDS } from "./facts.ts";
import { ALL_SAMPLES, readSampleBody, writeSampleBody } from "./sample-facts.ts";

/** Inputs of each kind; the soak sets more. */
const INPUTS = Number(process.env.FUZZ_INPUTS ?? 20_000);

/** Far above what inputs of a few hundred bytes need, far below what a forged length asks for. */
const GROWTH_BYTES_MAX = 128 * 1024 * 1024;

const below = (next: () => number, bound: number): number => Math.floor(next() * bound);

/** The first byte is a type that there is, more often than not. */
function anyBytes(next: () => number): Uint8Array {
  const bytes = Uint8Array.from({ length: below(next, 200) }, () => below(next, 256));
  if (bytes.length > 0 && next() < 0.8) bytes[0] = 1 + below(next, FACT_KINDS.length - 1);
  return bytes;
}

function encoded(): Uint8Array[] {
  return ALL_SAMPLES.map((fact) => {
    const writer = new ByteWriter((need) => new Uint8Array(need * 2));
    encodeFact(writer, fact, writeSampleBody);
    return writer.bytes.slice(0, writer.at);
  });
}

/** A sample with some bytes changed, left out, put in, or of another sample. */
function mutated(next: () => number, samples: readonly Uint8Array[]): Uint8Array {
  let bytes = [...samples[below(next, samples.length)]!];
  for (let times = 1 + below(next, 4); times > 0; times--) {
    const at = below(next, bytes.length + 1);
    const kind = next();
    if (kind < 0.3) bytes[Math.min(at, bytes.length - 1)] = below(next, 256);
    else if (kind < 0.5) bytes.splice(at, 1 + below(next, 4));
    else if (kind < 0.7) bytes.splice(at, 0, 0xff, 0xff, 0xff, 0xff, 0xff, below(next, 128));
    else if (kind < 0.8) bytes.splice(at, 0, 0x80, 0);
    else if (kind < 0.9) bytes = bytes.slice(0, at);
    else bytes.splice(at, bytes.length, ...samples[below(next, samples.length)]!.slice(at));
  }
  return Uint8Array.from(bytes);
}

function tryAll(input: (next: () => number) => Uint8Array): { read: number; refused: number } {
  const count = { read: 0, refused: 0 };
  for (let seed = 1; seed <= INPUTS; seed++) {
    const bytes = input(random(seed));
    const before = process.memoryUsage();
    const begun = performance.now();
    const reader = new ByteReader(bytes);
    try {
      decodeFact(reader, readSampleBody);
      count.read++;
    } catch (error) {
      assert.ok(error instanceof SluiceError, `seed ${seed}: ${String(error)}`);
      assert.ok(error.code === "LOG_DAMAGED" || error.code === "LOG_VERSION", `seed ${seed}`);
      count.refused++;
    }
    assert.ok(reader.at <= bytes.length, `seed ${seed}: read beyond the end`);
    assert.ok(performance.now() - begun < 1000, `seed ${seed}: took over a second`);
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    const grown = heapUsed - before.heapUsed + arrayBuffers - before.arrayBuffers;
    assert.ok(grown < GROWTH_BYTES_MAX, `seed ${seed}: grew by ${grown} bytes`);
  }
  return count;
}

test("any bytes are a fact or a typed error, without a hang and without a large allocation", () => {
  const { refused } = tryAll(anyBytes);
  assert.ok(refused > INPUTS / 2);
});

test("facts with a few bytes changed are facts or a typed error", () => {
  const samples = encoded();
  const { read, refused } = tryAll((next) => mutated(next, samples));
  assert.ok(read > INPUTS / 50, "some changes are not seen");
  assert.ok(refused > INPUTS / 10, "most are");
});
