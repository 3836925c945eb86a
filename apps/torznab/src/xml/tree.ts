/** A document as elements. Names are in lower case and without prefix: dialects differ in both. */
import { XMLParser } from "fast-xml-parser";
import { checkDocument } from "./check.ts";
import { XmlRefused } from "./refused.ts";

export interface Element {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: readonly Element[];
  readonly text: string;
}

const PARSER = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: "",
  removeNSPrefix: true,
  parseTagValue: false,
  parseAttributeValue: false,
  trimValues: false,
  ignoreDeclaration: true,
  ignorePiTags: true,
  cdataPropName: "#cdata",
  // They are decoded here, the five that XML has and numbers, and no others.
  processEntities: false,
});

type Raw = Readonly<Record<string, unknown>>;

const ATTRIBUTES = ":@";

export function parseTree(text: string): Element {
  checkDocument(text);
  let nodes: readonly Raw[];
  try {
    // With validation it refuses XML that is malformed.
    nodes = PARSER.parse(text, true) as readonly Raw[];
  } catch (error) {
    const reason = error instanceof Error ? error.message.slice(0, 200) : "unknown";
    throw new XmlRefused("malformed", `the document is not well-formed: ${reason}`);
  }
  const [root] = nodes.map(elementOf).filter((element) => element !== undefined);
  if (root === undefined) throw new XmlRefused("malformed", "the document has no element");
  return root;
}

/** Undefined for text; the depth was checked before, so that recursion ends. */
function elementOf(raw: Raw): Element | undefined {
  const tag = Object.keys(raw).find((key) => key !== ATTRIBUTES);
  if (tag === undefined || tag.startsWith("#")) return undefined;
  const inside = raw[tag] as readonly Raw[];
  return {
    name: tag.toLowerCase(),
    attributes: attributesOf(raw[ATTRIBUTES] as Raw | undefined),
    children: inside.map(elementOf).filter((child) => child !== undefined),
    text: textIn(inside).trim(),
  };
}

function attributesOf(raw: Raw | undefined): Map<string, string> {
  const attributes = new Map<string, string>();
  for (const [name, value] of Object.entries(raw ?? {})) {
    attributes.set(name.toLowerCase(), decodeEntities(String(value)).trim());
  }
  return attributes;
}

function textIn(nodes: readonly Raw[]): string {
  let text = "";
  for (const node of nodes) {
    if ("#text" in node) text += decodeEntities(String(node["#text"]));
    else if ("#cdata" in node) text += textOfCdata(node["#cdata"]);
  }
  return text;
}

function textOfCdata(nodes: unknown): string {
  return (nodes as readonly Raw[]).map((node) => String(node["#text"] ?? "")).join("");
}

const NAMED: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
};

/** What is no reference that we know stays as it is written. */
function decodeEntities(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(/&(#x[0-9a-f]{1,6}|#\d{1,7}|[a-z]{2,4});/gi, (whole, name: string) => {
    if (!name.startsWith("#")) return NAMED[name.toLowerCase()] ?? whole;
    const isHex = name[1] === "x" || name[1] === "X";
    const code = Number.parseInt(name.slice(isHex ? 2 : 1), isHex ? 16 : 10);
    return isCharacter(code) ? String.fromCodePoint(code) : "";
  });
}

function isCharacter(code: number): boolean {
  if (code < 0x20) return code === 0x9 || code === 0xa || code === 0xd;
  return code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff) && code !== 0xfffe;
}
