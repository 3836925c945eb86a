import { KEY_BYTES_MAX, NAME_CHARS_MAX } from "../limits.ts";

const NOT_IN_A_NAME = /[^A-Za-z0-9._:-]/g;

/** A text as the name of a gate: what no name may have becomes `_`, what is too long is cut. */
export function asName(text: string): string {
  const short = text.length > NAME_CHARS_MAX ? text.slice(0, NAME_CHARS_MAX) : text;
  return short.replace(NOT_IN_A_NAME, "_");
}

/** A text as a fairness key: what is too long is cut, never in the middle of a character. */
export function asKey(text: string): string {
  if (text.length * 3 <= KEY_BYTES_MAX) return text;
  const bytes = Buffer.from(text);
  if (bytes.length <= KEY_BYTES_MAX) return text;
  let end = KEY_BYTES_MAX;
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end--;
  return bytes.toString("utf8", 0, end);
}
