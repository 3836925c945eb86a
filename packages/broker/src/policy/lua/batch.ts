/** Batches on their way to a thread and back: fields with their lengths before them. */
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
  let bytes = 10;
  for (const name in headers) bytes += 4 + 3 * (name.length + headers[name]!.length);
  if (failure !== undefined) bytes += 14 + 3 * (failure.id.length + failure.error.length);
  return bytes;
}

export function encodeBatch(
  hook: Hook,
  questions: readonly Question[],
  failures: number,
): Uint8Array<ArrayBuffer> {
  let bytes = 9;
  for (const question of questions) bytes += questionBytes(question);
  const writer = new QuestionWriter(new ArrayBuffer(bytes));
  writer.u8(hook === "failure" ? 1 : 0);
  writer.u32(questions.length);
  writer.u32(failures);
  for (const question of questions) writeQuestion(writer, question);
  return writer.written();
}

function writeQuestion(writer: QuestionWriter, { headers, payloadBytes, failure }: Question): void {
  writer.double(payloadBytes);
  const countAt = writer.at;
  writer.u16(0);
  let count = 0;
  for (const name in headers) {
    count++;
    writer.text2(name);
    writer.text2(headers[name]!);
  }
  writer.setU16(countAt, count);
  if (failure === undefined) return;
  writer.text2(failure.id);
  writer.u32(failure.attempts);
  writer.u32(failure.attemptsMax);
  writer.text4(failure.error);
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

  u16(value: number): void {
    this.setU16(this.at, value);
    this.at += 2;
  }

  setU16(at: number, value: number): void {
    this.#view.setUint16(at, value, true);
  }

  u32(value: number): void {
    this.#view.setUint32(this.at, value, true);
    this.at += 4;
  }

  double(value: number): void {
    this.#view.setFloat64(this.at, value, true);
    this.at += 8;
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

const END = 0x3b;

class AnswerReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  answer(): Answer {
    const answer: Answer = {};
    for (let tag = this.#u8(); tag !== END; tag = this.#u8()) {
      this.#field(answer, String.fromCharCode(tag));
    }
    return answer;
  }

  #field(answer: Answer, tag: string): void {
    if (tag === "k") answer.fairnessKey = oneOrMore(this.#texts());
    else if (tag === "g") answer.gates = [...(answer.gates ?? []), ...this.#texts()];
    else if (tag === "w") answer.weight = this.#double();
    else if (tag === "p") answer.priority = this.#double();
    else if (tag === "n") answer.priority = this.#text();
    else if (tag === "d") answer.delayMs = this.#double();
    else if (tag === "a") answer.action = this.#text();
    else answer.problem = this.#text();
  }

  #u8(): number {
    return this.#bytes.readUInt8(this.#at++);
  }

  #double(): number {
    this.#at += 8;
    return this.#bytes.readDoubleLE(this.#at - 8);
  }

  #text(): string {
    const from = this.#at + 2;
    this.#at = from + this.#bytes.readUInt16LE(this.#at);
    return this.#bytes.toString("utf8", from, this.#at);
  }

  #texts(): string[] {
    const texts: string[] = [];
    for (let left = this.#u8(); left > 0; left--) texts.push(this.#text());
    return texts;
  }
}

function oneOrMore(texts: string[]): string | string[] {
  return texts.length === 1 ? texts[0]! : texts;
}
