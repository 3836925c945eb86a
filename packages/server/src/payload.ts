/**
 * Payloads and results between JSON over HTTP and the bytes that the port carries. `payload` is any
 * JSON value and its bytes are that value as JSON: what `Queue.add` writes and `Queue.work` reads.
 * Bytes that are no JSON travel as base64 in a field of their own, `payloadBase64`.
 */
import { SluiceError } from "@sluice/protocol";
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
  if (typeof text === "string" && isBase64(text)) return Buffer.from(text, "base64");
  throw new SluiceError("INVALID", `${field} must be base64`, { field });
}

/** A search for what does not belong: an expression for the whole would run out of stack. */
function isBase64(text: string): boolean {
  const end = text.search(/[^A-Za-z0-9+/]/);
  return text.length % 4 === 0 && (end === -1 || /^={1,2}$/.test(text.slice(end)));
}

function fromValue(field: string, value: unknown): Uint8Array {
  if (isDeeper(value, JSON_DEPTH_MAX)) {
    const message = `${field} is nested deeper than ${JSON_DEPTH_MAX} levels`;
    throw new SluiceError("INVALID", message, { field });
  }
  return encoder.encode(JSON.stringify(value));
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
