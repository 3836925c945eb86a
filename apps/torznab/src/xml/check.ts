/**
 * Walks over a document before it is parsed, and refuses what would cost too much: a document type,
 * too many elements, levels, attributes or references, too long a stretch of anything. One pass, no
 * recursion, nothing allocated.
 */
import {
  XML_ATTRIBUTES_MAX,
  XML_DEPTH_MAX,
  XML_NODES_MAX,
  XML_REFERENCES_MAX,
  XML_STRETCH_CHARS_MAX,
} from "../limits.ts";
import { XmlRefused } from "./refused.ts";

const QUOTE = 0x22;
const APOSTROPHE = 0x27;
const CLOSE = 0x3e;
const SLASH = 0x2f;
const EQUALS = 0x3d;

export function checkDocument(text: string): void {
  const start = text.slice(0, 1_000).trimStart();
  if (start === "") throw new XmlRefused("empty", "the answer is empty");
  if (/^(<!doctype\s+html|<html|<head|<body)/i.test(start)) {
    throw new XmlRefused("html", "the answer is a web page, from a proxy or a login, and not XML");
  }
  if (!start.startsWith("<")) throw new XmlRefused("malformed", "the answer is not XML");
  new XmlScan(text).run();
  checkReferences(text);
}

class XmlScan {
  readonly #text: string;
  #at = 0;
  #depth = 0;
  #nodes = 0;
  #hasElement = false;

  constructor(text: string) {
    this.#text = text;
  }

  run(): void {
    for (;;) {
      const before = this.#at;
      this.#at = this.#text.indexOf("<", before);
      if (this.#at === -1) break;
      checkStretch(before, this.#at);
      this.#markup();
    }
    if (this.#depth !== 0) throw new XmlRefused("malformed", "the document ends in an element");
    if (!this.#hasElement) throw new XmlRefused("malformed", "the document has no element");
  }

  #markup(): void {
    const text = this.#text;
    if (text.startsWith("<!--", this.#at)) return this.#skipTo("-->", 4);
    if (text.startsWith("<![CDATA[", this.#at)) return this.#skipTo("]]>", 9);
    if (text.startsWith("<?", this.#at)) return this.#skipTo("?>", 2);
    if (text.startsWith("<!", this.#at)) {
      throw new XmlRefused("doctype", "the document declares a document type, which is refused");
    }
    this.#element();
  }

  #skipTo(end: string, length: number): void {
    const at = this.#text.indexOf(end, this.#at + length);
    if (at === -1) throw new XmlRefused("malformed", `a section is not closed by ${end}`);
    checkStretch(this.#at, at);
    this.#at = at + end.length;
    this.#count();
  }

  #count(): void {
    if (++this.#nodes <= XML_NODES_MAX) return;
    throw new XmlRefused("too_large", `the document has over ${XML_NODES_MAX} elements`);
  }

  #element(): void {
    const isClosing = this.#text.charCodeAt(this.#at + 1) === SLASH;
    const end = this.#endOfTag();
    const isEmpty = this.#text.charCodeAt(end - 1) === SLASH;
    this.#hasElement = true;
    this.#at = end + 1;
    if (isClosing) this.#depth--;
    else this.#count();
    if (!isClosing && !isEmpty && ++this.#depth > XML_DEPTH_MAX) {
      throw new XmlRefused("too_large", `the document is over ${XML_DEPTH_MAX} levels deep`);
    }
    if (this.#depth < 0) throw new XmlRefused("malformed", "an element is closed that is not open");
  }

  /** A bracket inside quotes does not end the tag. */
  #endOfTag(): number {
    const text = this.#text;
    let quote = 0;
    let attributes = 0;
    for (let at = this.#at + 1; at < text.length; at++) {
      const char = text.charCodeAt(at);
      if (quote !== 0) {
        if (char === quote) quote = 0;
      } else if (char === QUOTE || char === APOSTROPHE) quote = char;
      else if (char === CLOSE) {
        checkStretch(this.#at, at);
        return at;
      } else if (char === EQUALS && ++attributes > XML_ATTRIBUTES_MAX) {
        throw new XmlRefused("too_large", `an element has over ${XML_ATTRIBUTES_MAX} attributes`);
      }
    }
    throw new XmlRefused("malformed", "the document ends in a tag");
  }
}

function checkStretch(from: number, to: number): void {
  if (to - from <= XML_STRETCH_CHARS_MAX) return;
  const most = XML_STRETCH_CHARS_MAX;
  throw new XmlRefused("too_large", `the document has over ${most} characters in one piece`);
}

function checkReferences(text: string): void {
  let count = 0;
  for (let at = text.indexOf("&"); at !== -1; at = text.indexOf("&", at + 1)) {
    if (++count <= XML_REFERENCES_MAX) continue;
    throw new XmlRefused("too_large", `the document has over ${XML_REFERENCES_MAX} references`);
  }
}
