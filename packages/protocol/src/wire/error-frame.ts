import { ERROR_CODES, type ErrorCode, type ErrorJson } from "../errors.ts";
import type { FrameReader } from "./reader.ts";
import type { FrameWriter } from "./writer.ts";

const RETRY_AFTER = 1;
const DETAILS = 2;

const known: ReadonlySet<string> = new Set(ERROR_CODES);

/** An error's message travels as a text, whose bytes have a bound. */
const MESSAGE_CHARS_MAX = 10_000;

export function writeError(writer: FrameWriter, error: ErrorJson): void {
  const { code, message, retryAfterMs, details } = error;
  writer.u8((retryAfterMs === undefined ? 0 : RETRY_AFTER) | (details === undefined ? 0 : DETAILS));
  writer.short(code);
  writer.text(message.slice(0, MESSAGE_CHARS_MAX));
  if (retryAfterMs !== undefined) writer.f64(retryAfterMs);
  if (details !== undefined) writer.json(details);
}

export function readError(reader: FrameReader): ErrorJson {
  const flags = reader.flags(RETRY_AFTER | DETAILS);
  const code = reader.short();
  const message = reader.text();
  // A later version may know more codes.
  const error: ErrorJson = { code: known.has(code) ? (code as ErrorCode) : "INTERNAL", message };
  if ((flags & RETRY_AFTER) !== 0) error.retryAfterMs = reader.f64();
  if ((flags & DETAILS) !== 0) error.details = reader.object();
  return error;
}
