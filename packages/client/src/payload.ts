/** Payloads between what users see and the bytes that the port carries. */
import { invalid } from "./invalid.ts";
import { decodeJson, decodeLeniently, encodeJson } from "./json.ts";
import type { Codec, LocalOptions } from "./parse-queue.ts";
import { validate } from "./schema.ts";

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

export function decodeResult(bytes: Uint8Array | undefined): unknown {
  return bytes === undefined ? undefined : decodeJson("result", bytes, "INTERNAL");
}
