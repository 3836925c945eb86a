/**
 * Query strings as bytes. Info hashes and peer ids are no text in any encoding, so nothing here
 * goes through `decodeURIComponent`: an escape is one byte, and a character of the result is one
 * byte.
 */

/** Calls back with the name and the raw value of each pair, in order. */
export function eachPair(query: string, pair: (name: string, raw: string) => void): void {
  let start = 0;
  while (start < query.length) {
    let end = query.indexOf("&", start);
    if (end === -1) end = query.length;
    const equals = query.indexOf("=", start);
    if (equals === -1 || equals > end) {
      if (end > start) pair(query.slice(start, end), "");
    } else pair(query.slice(start, equals), query.slice(equals + 1, end));
    start = end + 1;
  }
}

const scratch = Buffer.allocUnsafe(16 * 1024);

/** The bytes of a value; undefined when an escape is none, or a byte is none of a URL. */
export function unescapeBytes(raw: string): string | undefined {
  const { length } = raw;
  if (length > scratch.length) return undefined;
  let at = 0;
  for (let i = 0; i < length; i++) {
    let byte = raw.charCodeAt(i);
    if (byte === PERCENT) {
      if (i + 2 >= length) return undefined;
      const high = raw.charCodeAt(i + 1);
      const low = raw.charCodeAt(i + 2);
      if (high > 0xff || low > 0xff) return undefined;
      byte = (HEX[high]! << 4) | HEX[low]!;
      if (byte < 0) return undefined;
      i += 2;
    } else if (byte === PLUS) byte = SPACE;
    else if (byte > 0xff) return undefined;
    scratch[at++] = byte;
  }
  return scratch.toString("latin1", 0, at);
}

const PERCENT = 0x25;
const PLUS = 0x2b;
const SPACE = 0x20;

/** The value of a hex digit by its code, or -1, which makes all that it is part of negative. */
const HEX = Int8Array.from({ length: 256 }, (_, code) => {
  const value = Number.parseInt(String.fromCharCode(code), 16);
  return Number.isNaN(value) ? -1 : value;
});

/** Digits that fit into a number exactly. */
const DIGITS_MAX = 15;

/** The value of 1 to 15 decimal digits; -1 for anything else. */
export function wholeNumber(raw: string): number {
  const { length } = raw;
  if (length === 0 || length > DIGITS_MAX) return -1;
  let value = 0;
  for (let i = 0; i < length; i++) {
    const digit = raw.charCodeAt(i) - 0x30;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return value;
}

/** Every byte that is not plainly safe is escaped; a space is `%20`, for `+` means many things. */
export function escapeBytes(bytes: string): string {
  let text = "";
  for (let i = 0; i < bytes.length; i++) text += ESCAPES[bytes.charCodeAt(i)]!;
  return text;
}

const ESCAPES = Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte);
  if (/[A-Za-z0-9._~-]/.test(character)) return character;
  return `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
});
