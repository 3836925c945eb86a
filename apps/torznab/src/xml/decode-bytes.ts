/** From bytes to text: which encoding it is, and what no XML may hold. */
import { XmlRefused } from "./refused.ts";

/** A byte order mark is surest, then what HTTP says, then the XML declaration; else UTF-8. */
export function decodeBytes(bytes: Uint8Array, contentType: string | undefined): string {
  const label = fromMark(bytes) ?? fromHeader(contentType) ?? fromDeclaration(bytes) ?? "utf-8";
  // Bytes that are no text become U+FFFD: one bad title must not cost the whole feed.
  return withoutControls(decoderFor(label).decode(bytes));
}

function decoderFor(label: string) {
  try {
    return new TextDecoder(label);
  } catch {
    throw new XmlRefused("charset", `the charset ${JSON.stringify(label)} is unknown`);
  }
}

function fromMark(bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return "utf-8";
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be";
  return undefined;
}

function fromHeader(contentType: string | undefined): string | undefined {
  return /charset\s*=\s*"?([^\s";]{1,40})/i.exec(contentType ?? "")?.[1];
}

function fromDeclaration(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 200));
  const text = head.toString("latin1");
  const label = /^\s*<\?xml[^>]{0,100}encoding\s*=\s*["']([^"']{1,40})["']/.exec(text)?.[1];
  // What can be read byte by byte is not in two bytes a character, though some programs say so.
  return /^(utf-?16|ucs-?2|utf-?32)/i.test(label ?? "") ? undefined : label;
}

/** Characters that XML forbids, which real feeds hold nevertheless. */
function withoutControls(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  return text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "");
}
