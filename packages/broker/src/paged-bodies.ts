import type { Log, Position } from "@sluice/log";
import { type Body, bodyAt, bodyBytes, LENGTHS_BYTES, wholeBodyAt } from "./codec/body.ts";

/** Logs keep blocks of so many bytes, or multiples: a window is a view of one, not a copy. */
const WINDOW_BYTES = 64 * 1024;

/** What a batch of the log has of a chunk: bytes `from` to `to` of it, at an offset of its own. */
interface Part {
  readonly from: number;
  readonly to: number;
  readonly position: Position;
  readonly offset: number;
}

/** A piece of a batch, from an offset on. */
interface Window {
  readonly position: Position;
  readonly from: number;
  readonly bytes: Uint8Array;
}

/**
 * Bodies whose bytes are only in the log. The last window that was read is kept: jobs that go out
 * together mostly came together, so the next body is in there too, and the log is not asked.
 */
export class PagedBodies {
  readonly #log: Log;
  #window: Window | undefined = undefined;

  constructor(log: Log) {
    this.#log = log;
  }

  /** The body that begins at this offset of the part's batch. */
  read(part: Part, at: number): Body | Promise<Body> {
    const { position } = part;
    const known = this.#inWindow(position, at);
    if (known !== undefined) return known;
    const from = at - (at % WINDOW_BYTES);
    const length = Math.min(WINDOW_BYTES, part.offset + part.to - part.from - from);
    const take = (bytes: Uint8Array): Body | Promise<Body> => {
      this.#window = { position, from, bytes };
      return this.#inWindow(position, at) ?? this.#readAlone(position, at);
    };
    const read = this.#log.read(position, from, length);
    return read instanceof Promise ? read.then(take) : take(read);
  }

  /** What is before this position has left the log: its memory may be that of a large batch. */
  forget(before: Position): void {
    if (this.#window !== undefined && this.#window.position < before) this.#window = undefined;
  }

  /** Undefined if not all of it is in the window. */
  #inWindow(position: Position, at: number): Body | undefined {
    const window = this.#window;
    if (window?.position !== position || at < window.from) return undefined;
    return wholeBodyAt(window.bytes, at - window.from);
  }

  /** A body that reaches beyond its window. */
  #readAlone(position: Position, at: number): Body | Promise<Body> {
    const lengths = this.#log.read(position, at, LENGTHS_BYTES);
    if (lengths instanceof Promise) {
      return lengths.then((bytes) => this.#readRest(position, at, bytes));
    }
    return this.#readRest(position, at, lengths);
  }

  #readRest(position: Position, at: number, lengths: Uint8Array): Body | Promise<Body> {
    const bytes = this.#log.read(position, at, bodyBytes(lengths));
    return bytes instanceof Promise ? bytes.then((read) => bodyAt(read, 0)) : bodyAt(bytes, 0);
  }
}
