import type { Fact } from "@sluice/engine";
import type { ByteReader } from "./byte-reader.ts";
import type { ByteWriter } from "./byte-writer.ts";

/**
 * What a job carries for its worker. In the log it is part of the fact that brought it: two lengths
 * of four bytes, the headers as JSON, the payload.
 */
export interface Body {
  headers: Readonly<Record<string, string>>;
  payload: Uint8Array;
}

/** Bytes of the two lengths. */
export const LENGTHS_BYTES = 8;

const NO_HEADERS: Readonly<Record<string, string>> = Object.freeze({});

export function writeBody(writer: ByteWriter, body: Body): void {
  const headers = encodeHeaders(body.headers);
  writeLength(writer, headers.length);
  writeLength(writer, body.payload.length);
  writer.raw(headers);
  writer.raw(body.payload);
}

/** Steps over a body. */
export function skipBody(reader: ByteReader): void {
  const headers = reader.u32();
  // No views: three of them were a seventh of what a replay of a job takes.
  reader.skip(headers + reader.u32());
}

/** Bytes of a body whose lengths these are, the lengths included. */
export function bodyBytes(lengths: Uint8Array): number {
  return LENGTHS_BYTES + lengthAt(lengths, 0) + lengthAt(lengths, 4);
}

/** The body that begins at `at`. The payload is a view. */
export function bodyAt(bytes: Uint8Array, at: number): Body {
  const headersEnd = at + LENGTHS_BYTES + lengthAt(bytes, at);
  const end = headersEnd + lengthAt(bytes, at + 4);
  return {
    headers: decodeHeaders(bytes, at + LENGTHS_BYTES, headersEnd),
    payload: bytes.subarray(headersEnd, end),
  };
}

/** The same of a body that may not be there to its end: then undefined. */
export function wholeBodyAt(bytes: Uint8Array, at: number): Body | undefined {
  const rest = bytes.length - at - LENGTHS_BYTES;
  if (rest < 0 || lengthAt(bytes, at) + lengthAt(bytes, at + 4) > rest) return undefined;
  return bodyAt(bytes, at);
}

const NO_BYTES = new Uint8Array(0);
const encoder = new TextEncoder();
const decoder = new TextDecoder();

function encodeHeaders(headers: Readonly<Record<string, string>>): Uint8Array {
  return headers === NO_HEADERS ? NO_BYTES : encoder.encode(JSON.stringify(headers));
}

function decodeHeaders(
  bytes: Uint8Array,
  from: number,
  end: number,
): Readonly<Record<string, string>> {
  return from === end ? NO_HEADERS : JSON.parse(decoder.decode(bytes.subarray(from, end)));
}

/** Headers in the form that bodies have; none is always the same object. */
export function plainHeaders(
  headers: Readonly<Record<string, string>> | undefined,
): Readonly<Record<string, string>> {
  if (headers === undefined) return NO_HEADERS;
  for (const _ in headers) return headers;
  return NO_HEADERS;
}

/** Whether a fact brings the result of a step, or the value of a signal. */
export function hasStepBody(
  fact: Fact,
): fact is Extract<Fact, { fact: "step" | "signalled" }> & { body: unknown } {
  if (fact.fact === "signalled") return true;
  return fact.fact === "step" && fact.body !== undefined;
}

/** Bytes that count towards the size of a job: those of the names and of the texts. */
export function headersBytes(headers: Readonly<Record<string, string>>): number {
  let bytes = 0;
  for (const name in headers) {
    bytes += Buffer.byteLength(name) + Buffer.byteLength(headers[name]!);
  }
  return bytes;
}

function writeLength(writer: ByteWriter, length: number): void {
  writer.u8(length & 0xff);
  writer.u8((length >>> 8) & 0xff);
  writer.u8((length >>> 16) & 0xff);
  writer.u8(length >>> 24);
}

function lengthAt(bytes: Uint8Array, at: number): number {
  return (
    (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0
  );
}
