import type { Position, Span } from "../log.ts";

interface OpenSpan {
  readonly first: Position;
  sizeBytes: number;
}

/** What the stream holds, cut into spans of about a segment: counted at the replay and since. */
export class Spans {
  #spanBytes: number;
  #spans: OpenSpan[] = [];
  /** Behind the newest batch. */
  #end: Position = 0;
  #sizeBytes = 0;
  /** Up to where it was cut. */
  cutTo: Position = 0;

  constructor(spanBytes: number) {
    this.#spanBytes = spanBytes;
  }

  limit(spanBytes: number): void {
    this.#spanBytes = Math.min(this.#spanBytes, spanBytes);
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** A batch occupies the positions up to before `end`. */
  add(position: Position, end: Position, sizeBytes: number): void {
    const last = this.#spans.at(-1);
    if (last === undefined || last.sizeBytes + sizeBytes > this.#spanBytes) {
      this.#spans.push({ first: position, sizeBytes });
    } else last.sizeBytes += sizeBytes;
    this.#sizeBytes += sizeBytes;
    this.#end = end;
  }

  list(): Span[] {
    return this.#spans.map(({ first, sizeBytes }, index) => ({
      first,
      end: this.#spans[index + 1]?.first ?? this.#end,
      sizeBytes,
    }));
  }

  has(position: Position): boolean {
    const first = this.#spans[0]?.first;
    return first !== undefined && position >= first && position < this.#end;
  }

  /** The end of the last span that `trim(before)` forgets; undefined: it forgets none. */
  trimmed(before: Position): Position | undefined {
    return this.list()
      .slice(0, -1)
      .findLast(({ end }) => end <= before)?.end;
  }

  /** What is before was trimmed by another owner, whose spans end elsewhere. */
  cut(before: Position): void {
    this.cutTo = Math.max(this.cutTo, before);
    const spans = this.list().filter(({ end }) => end > before);
    this.#spans = spans.map(({ first, end, sizeBytes }) => {
      if (first >= before) return { first, sizeBytes };
      // About: how large the messages were that are gone is not known any more.
      return { first: before, sizeBytes: Math.ceil((sizeBytes * (end - before)) / (end - first)) };
    });
    this.#sizeBytes = this.#spans.reduce((sum, span) => sum + span.sizeBytes, 0);
  }

  forget(before: Position): void {
    this.#spans = this.#spans.filter(({ first }) => first >= before);
    this.#sizeBytes = this.#spans.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  }
}
