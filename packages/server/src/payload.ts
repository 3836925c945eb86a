/**
 * Payloads and results between JSON over HTTP and the bytes that the port carries. `payload` is any
 * JSON value and its bytes are those that were sent; `Queue.add` writes such bytes and `Queue.work`
 * reads them. Bytes that are no JSON travel as base64 in a field of their own, `payloadBase64`.
 */
import { SluiceError } from "@sluice/protocol";
import { RawJson } from "./body/raw-json.ts";
import { JSON_DEPTH_MAX } from "./limits.ts";

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();

type Field = "payload" | "result";

export type Carried = { [K in Field | `${Field}Base64`]?: unknown };

/** `auto`: as JSON when it is JSON; `base64`: bytes in any case. */
export type Encoding = "auto" | "base64";

/** The bytes that a body carries; undefined when it has neither field. */
export function toBytes(field: Field, body: Carried): Uint8Array | undefined {
  const plain = body[field];
  const base64 = body[`${field}Base64`];
  if (plain !== undefined && base64 !== undefined) {
    const message = `${field} and ${field}Base64 cannot both be given`;
    throw new SluiceError("INVALID", message, { field });
  }
  if (base64 !== undefined) return fromBase64(`${field}Base64`, base64);
  return plain === undefined ? undefined : fromValue(field, plain);
}

function fromBase64(field: string, text: unknown): Uint8Array {
  const bytes = typeof text === "string" ? decode(text) : undefined;
  if (bytes !== undefined) return bytes;
  throw new SluiceError("INVALID", `${field} must be base64`, { field });
}

/**
 * Node leaves out what does not belong, so a text with a wrong character gives fewer bytes than
 * its length says. An expression for the whole takes five times as long.
 */
function decode(text: string): Uint8Array | undefined {
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  if (text.length % 4 !== 0 || text.includes("-") || text.includes("_")) return undefined;
  const bytes = Buffer.from(text, "base64");
  return bytes.length === (text.length / 4) * 3 - padding ? bytes : undefined;
}

function fromValue(field: string, value: unknown): Uint8Array {
  const isRaw = value instanceof RawJson;
  if (isRaw ? value.depth > JSON_DEPTH_MAX : isDeeper(value, JSON_DEPTH_MAX)) {
    const message = `${field} is nested deeper than ${JSON_DEPTH_MAX} levels`;
    throw new SluiceError("INVALID", message, { field });
  }
  return isRaw ? value.bytes : encoder.encode(JSON.stringify(value));
}

/** The field under which bytes are shown. */
export function fromBytes(field: Field, bytes: Uint8Array, encoding: Encoding = "auto"): Carried {
  const value = encoding === "auto" ? parse(bytes) : undefined;
  if (value !== undefined) return { [field]: value };
  const { buffer, byteOffset, byteLength } = bytes;
  return { [`${field}Base64`]: Buffer.from(buffer, byteOffset, byteLength).toString("base64") };
}

/** How bytes begin, for a look: as text where they are text. */
export function startOf(field: Field, bytes: Uint8Array, most: number): object {
  const start = bytes.subarray(0, most);
  try {
    // The last character may be cut.
    const text = new TextDecoder("utf-8", { fatal: true }).decode(start, { stream: true });
    return { [`${field}Start`]: text };
  } catch {
    return { [`${field}StartBase64`]: Buffer.from(start).toString("base64") };
  }
}

function parse(bytes: Uint8Array): unknown {
  try {
    const value: unknown = JSON.parse(decoder.decode(bytes));
    // What could not be written again is shown as bytes.
    return isDeeper(value, JSON_DEPTH_MAX) ? undefined : value;
  } catch {
    return undefined;
  }
}

export function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  for (const part of Object.values(value)) if (isDeeper(part, levels - 1)) return true;
  return false;
}
