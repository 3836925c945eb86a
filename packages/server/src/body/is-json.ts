import { isUtf8 } from "node:buffer";
import { JSON_DEPTH_MAX, SLICE_BYTES } from "../limits.ts";
import { JsonScanner } from "./json-scanner.ts";

/**
 * Whether bytes are JSON that an answer can carry as they are: valid, and not nested too deep to be
 * read. They are looked at in slices and never parsed: as a value, a payload of a megabyte could
 * hold the event loop for 150 ms.
 */
export async function isJson(payload: Uint8Array): Promise<boolean> {
  const bytes = Buffer.from(payload.buffer, payload.byteOffset, payload.length);
  if (!isUtf8(bytes)) return false;
  const scanner = new JsonScanner(bytes);
  scanner.begin();
  try {
    while (!scanner.skip(scanner.at + SLICE_BYTES)) await new Promise(setImmediate);
  } catch {
    return false;
  }
  return scanner.isAtEnd && scanner.deepest <= JSON_DEPTH_MAX;
}
