/**
 * A request's body as a value, in slices: between two of them other requests get their turn, so
 * that no body holds the event loop. A body is an object. Each of its members is a slice at most,
 * and so is each item of its one long list. Payloads and results are kept as bytes.
 */
import { isAscii, isUtf8 } from "node:buffer";
import { SluiceError } from "@sluice/protocol";
import { BATCH_MAX, MEMBERS_MAX, PIECE_BYTES_MAX, SLICE_BYTES } from "../limits.ts";
import { BYTE, JsonScanner } from "./json-scanner.ts";
import { RawJson } from "./raw-json.ts";

/** How the body of a route is read. */
export class BodyShape {
  /** The names that are treated apart: those kept as bytes, then that of the list. */
  readonly names: readonly string[];
  readonly encoded: readonly Buffer[];
  readonly rawCount: number;

  /**
   * `items`: the member that is a list, whose items are read one by one. `raw`: members, of the
   * body or of an item, that are kept as bytes.
   */
  constructor({ items, raw = [] }: { items?: string; raw?: readonly string[] } = {}) {
    this.names = items === undefined ? raw : [...raw, items];
    this.encoded = this.names.map((name) => Buffer.from(name));
    this.rawCount = raw.length;
  }
}

/** Each member is parsed alone. */
export const MEMBERS = new BodyShape();

type Members = Record<string, unknown>;

/** Parses on the event loop in slices: a promise, unless all of it fits into one. */
export function parseBody(bytes: Buffer, shape: BodyShape): unknown {
  const slices = sliceBody(bytes, shape);
  const { done, value } = slices.next();
  return done === true ? value : parseRest(slices);
}

async function parseRest(slices: Generator<number, unknown>): Promise<unknown> {
  for (;;) {
    await new Promise(setImmediate);
    const { done, value } = slices.next();
    if (done === true) return value;
  }
}

/** Yields, after each slice, the position in the body. */
export function* sliceBody(bytes: Buffer, shape: BodyShape): Generator<number, unknown> {
  checkText(bytes);
  return yield* new BodyReader(bytes, shape).body();
}

class BodyReader {
  readonly #scanner: JsonScanner;
  readonly #shape: BodyShape;
  /** The whole as a text where each byte is a character; else each part is decoded alone. */
  readonly #text: string | undefined;
  /** Where the slice must end. */
  #until = SLICE_BYTES;

  constructor(bytes: Buffer, shape: BodyShape) {
    this.#scanner = new JsonScanner(bytes, hasMark(bytes) ? 3 : 0);
    this.#shape = shape;
    const isWorthIt = bytes.length > DECODED_WHOLE_BYTES && isAscii(bytes);
    this.#text = isWorthIt ? bytes.toString("latin1") : undefined;
  }

  *body(): Generator<number, unknown> {
    const scanner = this.#scanner;
    const isObject = scanner.next() === BYTE.open;
    const body = isObject ? yield* this.#object("body", true) : yield* this.#piece("body");
    if (!scanner.isAtEnd) scanner.fail();
    return body;
  }

  *#object(field: string, isBody: boolean): Generator<number, Members> {
    const scanner = this.#scanner;
    const { names, encoded, rawCount } = this.#shape;
    const kept: [string, unknown][] = [];
    const rest = new OtherMembers();
    scanner.take(BYTE.open);
    if (scanner.next() === BYTE.close) {
      scanner.at++;
      return {};
    }
    for (let count = 1; ; count++) {
      if (count > MEMBERS_MAX) throw invalid(`${field} has more than ${MEMBERS_MAX} fields`, field);
      scanner.next();
      const from = scanner.at;
      const known = scanner.name(encoded);
      const first = scanner.next();
      if (isBody && known === rawCount && first === BYTE.openList) {
        kept.push([names[known]!, yield* this.#list(names[known]!)]);
      } else {
        const isRaw = known >= 0 && known < rawCount;
        const valueFrom = scanner.at;
        scanner.begin();
        while (!scanner.skip(this.#until)) yield this.#slice(isRaw ? undefined : field, from);
        if (isRaw) kept.push([names[known]!, this.#raw(valueFrom)]);
        // Of a name that is there twice the last counts, so what is kept is kept in order.
        else if (known >= 0) kept.push([names[known]!, parsePart(this.#part(field, valueFrom))]);
        else if (rest.add(this.#part(field, from), this.#cost(from))) yield this.#slice();
      }
      if (scanner.next() !== BYTE.comma) break;
      scanner.at++;
      if (scanner.at >= this.#until) yield this.#slice();
    }
    scanner.take(BYTE.close);
    const members = rest.parsed();
    for (const [name, value] of kept) members[name] = value;
    return members;
  }

  *#list(field: string): Generator<number, unknown[]> {
    const scanner = this.#scanner;
    const items: unknown[] = [];
    scanner.take(BYTE.openList);
    if (scanner.next() === BYTE.closeList) {
      scanner.at++;
      return items;
    }
    for (;;) {
      if (items.length === BATCH_MAX) {
        throw invalid(`${field} must have at most ${BATCH_MAX} items`, field);
      }
      const isWalked = this.#shape.rawCount > 0 && scanner.next() === BYTE.open;
      items.push(isWalked ? yield* this.#object(field, false) : yield* this.#piece(field));
      if (scanner.next() !== BYTE.comma) break;
      scanner.at++;
      if (scanner.at >= this.#until) yield this.#slice();
    }
    scanner.take(BYTE.closeList);
    return items;
  }

  /** A value that is parsed whole. */
  *#piece(field: string): Generator<number, unknown> {
    const scanner = this.#scanner;
    scanner.next();
    const from = scanner.at;
    scanner.begin();
    while (!scanner.skip(this.#until)) yield this.#slice(field, from);
    return parsePart(this.#part(field, from));
  }

  /** The text from there to here. */
  #part(field: string, from: number): string {
    const { at, bytes } = this.#scanner;
    this.#check(field, from);
    return this.#text === undefined ? bytes.toString("utf8", from, at) : this.#text.slice(from, at);
  }

  /** What counts of the bytes from there to here: a long text costs next to nothing to parse. */
  #cost(from: number): number {
    const { at, textBytes, escapes } = this.#scanner;
    return at - from - textBytes + escapes;
  }

  #check(field: string, from: number): void {
    if (this.#cost(from) <= PIECE_BYTES_MAX) return;
    const message = `a value in ${field} has more than ${PIECE_BYTES_MAX} bytes beside its texts`;
    throw new SluiceError("PAYLOAD_TOO_LARGE", message, { field });
  }

  /** A view: the log copies what it stores. */
  #raw(from: number): RawJson {
    const { at, bytes, deepest } = this.#scanner;
    return new RawJson(new Uint8Array(bytes.buffer, bytes.byteOffset + from, at - from), deepest);
  }

  /** Ends a slice, within a part that is parsed whole when a field is named. */
  #slice(field?: string, from = 0): number {
    if (field !== undefined) this.#check(field, from);
    this.#until = this.#scanner.at + SLICE_BYTES;
    return this.#scanner.at;
  }
}

/**
 * The members of an object that have no treatment of their own. They are parsed together, as many
 * at a time as one part may cost: a call for each takes as long as its parsing.
 */
class OtherMembers {
  readonly #members: Members = {};
  #text = "";
  #cost = 0;

  /** Whether those before it had to be parsed first, so that the slice must end. */
  add(member: string, cost: number): boolean {
    const isFull = this.#text !== "" && this.#cost + cost > PIECE_BYTES_MAX;
    if (isFull) this.parsed();
    this.#text += `${this.#text === "" ? "" : ","}${member}`;
    this.#cost += cost;
    return isFull;
  }

  /** All of them; of a name that is there twice the last counts. */
  parsed(): Members {
    if (this.#text !== "") Object.assign(this.#members, parsePart(`{${this.#text}}`));
    this.#text = "";
    this.#cost = 0;
    return this.#members;
  }
}

function parsePart(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (mayPoison(text)) refusePoison(value);
  return value;
}

/** A body of many parts is decoded once: a call for each part costs as much as its parsing. */
const DECODED_WHOLE_BYTES = 4096;

/** Whether a name in it could poison a prototype; an escape may hide one. */
function mayPoison(text: string): boolean {
  return text.includes("__proto__") || text.includes("constructor") || text.includes("\\u");
}

/** Parses a body whole, for a route whose bodies are small. */
export function parseWhole(bytes: Buffer): unknown {
  checkText(bytes);
  const text = bytes.toString("utf8", hasMark(bytes) ? 3 : 0);
  const value = parseText(text);
  if (mayPoison(text)) refusePoison(value);
  return value;
}

function parseText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalid("the body is not valid JSON", "body");
  }
}

function checkText(bytes: Buffer): void {
  if (bytes.length === 0) throw invalid("the body is empty; it must be JSON", "body");
  if (!isUtf8(bytes)) throw invalid("the body is not valid UTF-8", "body");
}

/** What could poison the prototype of an object that it is copied to. */
function refusePoison(value: unknown): void {
  const open: unknown[] = [value];
  while (open.length > 0) {
    const one = open.pop();
    if (typeof one !== "object" || one === null) continue;
    const maker = Object.hasOwn(one, "constructor") ? one.constructor : undefined;
    const isPoison =
      typeof maker === "object" && maker !== null && Object.hasOwn(maker, "prototype");
    if (isPoison || Object.hasOwn(one, "__proto__")) {
      throw invalid("no field may be named __proto__ or constructor.prototype", "body");
    }
    for (const part of Object.values(one)) open.push(part);
  }
}

/** A byte order mark, which some senders put before the text. */
function hasMark(bytes: Buffer): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}

function invalid(message: string, field: string): SluiceError {
  return new SluiceError("INVALID", message, { field });
}
