import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeBytes } from "./decode-bytes.ts";

const bytes = (text: string, encoding: BufferEncoding = "utf8") => Buffer.from(text, encoding);
const declared = (label: string) => `<?xml version="1.0" encoding="${label}"?><a>\u00e9</a>`;

test("the encoding: a mark, then the header, then the declaration, else UTF-8", () => {
  for (const [given, contentType, text] of [
    [bytes("<a>\u00e9</a>"), undefined, "<a>\u00e9</a>"],
    [bytes("\ufeff<a>\u00e9</a>"), "text/xml; charset=latin1", "<a>\u00e9</a>"],
    [bytes("\ufeff<a>\u00e9</a>", "utf16le"), undefined, "<a>\u00e9</a>"],
    [bytes("<a>\u00e9</a>", "latin1"), 'text/xml; charset="ISO-8859-1"', "<a>\u00e9</a>"],
    [bytes(declared("iso-8859-1"), "latin1"), undefined, declared("iso-8859-1")],
    [bytes(declared("windows-1252"), "latin1"), "text/xml", declared("windows-1252")],
    // What .NET programs write when they make the document as a text first.
    [bytes(declared("utf-16")), "application/xml", declared("utf-16")],
    // Bytes that are no text, and characters that are none of XML.
    [bytes("<a>\xe9\x01</a>", "latin1"), undefined, "<a>\ufffd</a>"],
  ] as const) {
    assert.equal(decodeBytes(given, contentType), text);
  }
});

test("an unknown encoding is refused by its name", () => {
  const refused = { kind: "charset", message: /klingon/ };
  assert.throws(() => decodeBytes(bytes("<a/>"), "text/xml; charset=klingon"), refused);
  assert.throws(() => decodeBytes(bytes(declared("klingon")), undefined), refused);
});
