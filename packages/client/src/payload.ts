/** Payloads between what users see and the bytes that the port carries. */
import { invalid } from "@sluice/protocol";
import { decodeJson, decodeLeniently, encodeJson } from "./json.ts";
import type { Codec, LocalOptions } from "./queue-options.ts";
import { type StandardSchema, validate } from "./schema.ts";

export function encodePayload(codec: Codec, payload: unknown): Uint8Array {
  if (codec === "json") return encodeJson("payload", payload);
  if (payload instanceof Uint8Array) return payload;
  throw invalid("payload", 'a Uint8Array, as the queue has codec: "bytes"', payload);
}

/** What a handler gets; a promise only when the schema is one that waits. */
export function openPayload(
  { codec, schema }: LocalOptions,
  bytes: Uint8Array,
): unknown | Promise<unknown> {
  const payload = codec === "json" ? decodeJson("payload", bytes, "SCHEMA") : bytes;
  return schema === undefined ? payload : validate(schema, payload);
}

/** For those who only look: what cannot be read is shown as it is. */
export function showPayload(codec: Codec | undefined, bytes: Uint8Array): unknown {
  return codec === "bytes" ? bytes : decodeLeniently(bytes);
}

/** A result as it is stored, and as events carry it. */
export interface EncodedResult {
  readonly value: unknown;
  readonly bytes: Uint8Array | undefined;
}

/** A promise only when the schema is one that waits. */
export function encodeResult(
  schema: StandardSchema | undefined,
  result: unknown,
): EncodedResult | Promise<EncodedResult> {
  if (schema === undefined) return encoded(result);
  const valid = validate(schema, result, "result");
  return valid instanceof Promise ? valid.then(encoded) : encoded(valid);
}

function encoded(value: unknown): EncodedResult {
  return { value, bytes: value === undefined ? undefined : encodeJson("result", value) };
}

export function decodeResult(bytes: Uint8Array | undefined): unknown {
  return bytes === undefined ? undefined : decodeJson("result", bytes, "INTERNAL");
}
