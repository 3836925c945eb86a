/** Names and keys: which characters, and how many bytes. */
import { NAME_BYTES_MAX } from "./limits.ts";

const ALLOWED = new Uint8Array(128);
for (const char of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:-") {
  ALLOWED[char.charCodeAt(0)] = 1;
}

/** The same for schemas. */
export const NAME_PATTERN = `^[A-Za-z0-9._:-]{1,${NAME_BYTES_MAX}}$`;

/** What a name may be, for messages. */
export const A_NAME = `a name of 1 to ${NAME_BYTES_MAX} characters of [A-Za-z0-9._:-]`;

/** A table instead of a regular expression: it runs for every gate of every job that is added. */
export function isName(text: unknown): text is string {
  return typeof text === "string" && text.length > 0 && isNamePart(text, text.length);
}

/** What the name of a group may be, for messages and for schemas. */
export const A_GROUP = `${A_NAME}, or two of them with a slash between them`;
export const GROUP_PATTERN = NAME_PATTERN.replace(/^\^(.*)\$$/, "^($1/)?$1$$");

/** A name, or the name of a queue, a slash and a name. */
export function isGroup(text: unknown): text is string {
  if (typeof text !== "string") return false;
  const slash = text.indexOf("/");
  return slash === -1
    ? isName(text)
    : isName(text.slice(0, slash)) && isName(text.slice(slash + 1));
}

/** Whether the first `length` characters may stand in a name. */
export function isNamePart(text: string, length: number): boolean {
  if (length > NAME_BYTES_MAX) return false;
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i);
    if (code > 127 || ALLOWED[code] === 0) return false;
  }
  return true;
}

/** Whether `text` is a string of `max` bytes at most; most are so short that it need not count. */
export function fitsBytes(text: unknown, max: number): text is string {
  if (typeof text !== "string") return false;
  return text.length * 3 <= max || (text.length <= max && byteLength(text) <= max);
}

/** Bytes in UTF-8; a surrogate without its other half counts three, as it is stored. */
export function byteLength(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const code = text.codePointAt(i)!;
    if (code > 0xffff) {
      bytes += 2;
      i++;
    } else if (code > 0x7ff) bytes += 2;
    else if (code > 0x7f) bytes += 1;
  }
  return bytes;
}
