/** What bytes mean in JSON. */

/** May follow a backslash, beside `u` and its four digits. */
export const ESCAPES: ReadonlySet<number> = new Set(Buffer.from('"\\/bfnrt'));

export function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

export function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

export function isHex(byte: number): boolean {
  return isDigit(byte) || (byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66);
}
