/**
 * Batches on their way to a thread and back: fields with their lengths before them. In answers the
 * lengths and small numbers come first, and all texts together after them.
 */
import type { Headers } from "../template.ts";
import type { Hook } from "./messages.ts";

/** A job that a script is asked about. */
export interface Question {
  readonly headers: Headers;
  readonly payloadBytes: number;
  /** For `on_failure`. */
  readonly failure?: { id: string; attempts: number; attemptsMax: number; error: string };
}

/** A script's answer about a job, as received and not yet checked. */
export interface Answer {
  /** The script failed with this; all else is absent then. */
  problem?: string;
  fairnessKey?: string | string[];
  weight?: number;
  gates?: string[];
  priority?: number | string;
  delayMs?: number;
  action?: string;
}

/** An upper bound of the bytes that a question takes. */
export function questionBytes({ headers, failure }: Question): number {
  let bytes = 15;
  for (const name in headers) bytes += 4 + 3 * (name.length + headers[name]!.length);
  if (failure !== undefined) bytes += 14 + 3 * (failure.id.length + failure.error.length);
  return bytes;
}

/**
 * The names of headers come once, and again where they change: after each question a byte says
 * whether other names follow.
 */
export function encodeBatch(
  hook: Hook,
  questions: readonly Question[],
  failures: number,
): Uint8Array<ArrayBuffer> {
  let bytes = 16;
  for (const question of questions) bytes += questionBytes(question);
  const writer = new QuestionWriter(new ArrayBuffer(bytes));
  writer.u8(hook === "failure" ? 1 : 0);
  writer.u32(questions.length);
  writer.u32(failures);
  let names: readonly string[] | undefined;
  for (const question of questions) {
    const { headers } = question;
    if (names === undefined || !areNames(headers, names)) {
      if (names !== undefined) writer.setU8(writer.at - 1, 1);
      names = Object.keys(headers);
      writeNames(writer, names);
    }
    writeQuestion(writer, question);
  }
  return writer.written();
}

function areNames(headers: Headers, names: readonly string[]): boolean {
  let at = 0;
  for (const name in headers) if (name !== names[at++]) return false;
  return at === names.length;
}

function writeNames(writer: QuestionWriter, names: readonly string[]): void {
  const from = writer.at;
  writer.u32(0);
  writer.u16(names.length);
  for (const name of names) writer.text2(name);
  writer.setU32(from, writer.at - from - 4);
}

function writeQuestion(writer: QuestionWriter, { headers, payloadBytes, failure }: Question): void {
  writer.u32(payloadBytes);
  writer.u32(0);
  for (const name in headers) writer.text2(headers[name]!);
  if (failure !== undefined) {
    writer.text2(failure.id);
    writer.u32(failure.attempts);
    writer.u32(failure.attemptsMax);
    writer.text4(failure.error);
  }
  writer.u8(0);
}

class QuestionWriter {
  readonly #bytes: Buffer<ArrayBuffer>;
  readonly #view: DataView;
  at = 0;

  constructor(buffer: ArrayBuffer) {
    this.#bytes = Buffer.from(buffer);
    this.#view = new DataView(buffer);
  }

  u8(value: number): void {
    this.#view.setUint8(this.at++, value);
  }

  setU8(at: number, value: number): void {
    this.#view.setUint8(at, value);
  }

  u16(value: number): void {
    this.setU16(this.at, value);
    this.at += 2;
  }

  setU16(at: number, value: number): void {
    this.#view.setUint16(at, value, true);
  }

  u32(value: number): void {
    this.setU32(this.at, value);
    this.at += 4;
  }

  setU32(at: number, value: number): void {
    this.#view.setUint32(at, value, true);
  }

  /** All headers of a job together are far shorter than two bytes can say. */
  text2(text: string): void {
    const length = this.#bytes.write(text, this.at + 2);
    this.setU16(this.at, length);
    this.at += 2 + length;
  }

  text4(text: string): void {
    const length = this.#bytes.write(text, this.at + 4);
    this.#view.setUint32(this.at, length, true);
    this.at += 4 + length;
  }

  written(): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.#bytes.buffer, 0, this.at);
  }
}

/** The answers of a batch, in order; fewer than were asked for when the batch had its time. */
export function decodeAnswers(bytes: Uint8Array): Answer[] {
  const reader = new AnswerReader(bytes);
  const answers: Answer[] = [];
  while (!reader.isAtEnd) answers.push(reader.answer());
  return answers;
}

/** What begins a field: texts with their count added, numbers small or (one more) as a double. */
const END = 0;
const KEY = 0;
const GATES = 4;
const WEIGHT = 21;
const PRIORITY = 23;
const TIER = 25;
const DELAY = 26;
const ACTION = 28;

/** Tags, lengths and small numbers are together before all texts. */
class AnswerReader {
  readonly #bytes: Buffer;
  #at = 4;
  #textsAt: number;
  readonly #codesEnd: number;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#codesEnd = bytes.length === 0 ? 0 : 4 + this.#bytes.readUInt32LE(0);
    this.#textsAt = this.#codesEnd;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#codesEnd;
  }

  answer(): Answer {
    const answer: Answer = {};
    for (let tag = this.#code(); tag !== END; tag = this.#code()) this.#field(answer, tag);
    return answer;
  }

  #field(answer: Answer, tag: number): void {
    if (tag <= GATES) answer.fairnessKey = oneOrMore(this.#texts(tag - KEY));
    else if (tag < WEIGHT) {
      const gates = this.#texts(tag - GATES);
      answer.gates = answer.gates === undefined ? gates : [...answer.gates, ...gates];
    } else if (tag < PRIORITY) answer.weight = this.#number(tag - WEIGHT);
    else if (tag < TIER) answer.priority = this.#number(tag - PRIORITY);
    else if (tag === TIER) answer.priority = this.#text();
    else if (tag < ACTION) answer.delayMs = this.#number(tag - DELAY);
    else if (tag === ACTION) answer.action = this.#text();
    else answer.problem = this.#text();
  }

  /** One byte, or two when the first has its highest bit. */
  #code(): number {
    const first = this.#bytes[this.#at++]!;
    return first < 128 ? first : (first & 127) | (this.#bytes[this.#at++]! << 7);
  }

  #number(isDouble: number): number {
    if (isDouble === 0) return this.#code();
    this.#textsAt += 8;
    return this.#bytes.readDoubleLE(this.#textsAt - 8);
  }

  #text(): string {
    const from = this.#textsAt;
    this.#textsAt += this.#code();
    return this.#bytes.toString("utf8", from, this.#textsAt);
  }

  #texts(count: number): string[] {
    const texts: string[] = [];
    for (let left = count; left > 0; left--) texts.push(this.#text());
    return texts;
  }
}

function oneOrMore(texts: string[]): string | string[] {
  return texts.length === 1 ? texts[0]! : texts;
}
