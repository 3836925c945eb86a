import type { FrameReader } from "./reader.ts";
import type { FrameWriter } from "./writer.ts";

const NONE: Readonly<Record<string, string>> = Object.freeze({});

/** At most 255, as a u8 counts them. */
export function writeHeaders(writer: FrameWriter, headers: Readonly<Record<string, string>>): void {
  const names = Object.keys(headers);
  writer.u8(names.length);
  for (const name of names) {
    writer.text(name);
    writer.text(headers[name]!);
  }
}

export function readHeaders(reader: FrameReader): Readonly<Record<string, string>> {
  const count = reader.u8();
  if (count === 0) return NONE;
  const headers: Record<string, string> = {};
  for (let i = 0; i < count; i++) {
    const name = reader.name();
    const value = reader.name();
    if (name === "__proto__") define(headers, name, value);
    else headers[name] = value;
  }
  return headers;
}

/** A field like any other, although its name sets a prototype when it is assigned. */
function define(headers: Record<string, string>, name: string, value: string): void {
  Object.defineProperty(headers, name, {
    value,
    enumerable: true,
    configurable: true,
    writable: true,
  });
}
