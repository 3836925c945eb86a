/**
 * The keys of `top`: q ends it, s changes the order, arrows (or j and k) choose a queue, Escape
 * lets go of it. A terminal in raw mode sends Ctrl-C as a key too.
 */
import { TOP_SORTS, type TopChoice } from "./view.ts";

const QUIT: readonly string[] = ["q", "Q", "\x03"];
const UP: readonly string[] = ["k", "\x1b[A", "\x1bOA"];
const DOWN: readonly string[] = ["j", "\x1b[B", "\x1bOB"];
const ESCAPE = "\x1b";

/** The part of a terminal's input that is used here. */
interface Keyboard {
  readonly isTTY?: boolean | undefined;
  setRawMode(isRaw: boolean): unknown;
  on(event: "data", listener: (keys: string | Uint8Array) => void): unknown;
  off(event: "data", listener: (keys: string | Uint8Array) => void): unknown;
  pause(): unknown;
}

export class TopKeys implements Disposable {
  readonly signal: AbortSignal;
  readonly #keyboard: Keyboard | undefined;
  readonly #pressed = new AbortController();
  readonly #listen = (keys: string | Uint8Array): void => {
    this.#take(typeof keys === "string" ? keys : new TextDecoder().decode(keys));
  };
  #choice: TopChoice = { sort: TOP_SORTS[0], queue: undefined };
  #shown: readonly string[] = [];
  #wake = (): void => {};

  constructor(input: unknown, stop: AbortSignal) {
    const keyboard = input as Keyboard | undefined;
    this.signal = AbortSignal.any([stop, this.#pressed.signal]);
    if (keyboard?.isTTY !== true) return;
    this.#keyboard = keyboard;
    keyboard.setRawMode(true);
    keyboard.on("data", this.#listen);
  }

  get choice(): TopChoice {
    return this.#choice;
  }

  /** The queues as they are listed: what the arrows move over. */
  show(queues: readonly string[]): void {
    this.#shown = queues;
  }

  /** Resolves when a key changes what is shown. */
  changed(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #take(keys: string): void {
    if (QUIT.some((key) => keys.includes(key))) return this.#pressed.abort();
    const before = this.#choice;
    if (keys === "s") this.#choice = { ...before, sort: next(before.sort) };
    else if (keys === ESCAPE) this.#choice = { ...before, queue: undefined };
    else if (UP.includes(keys)) this.#move(-1);
    else if (DOWN.includes(keys)) this.#move(1);
    if (this.#choice !== before) this.#wake();
  }

  #move(by: number): void {
    const { length } = this.#shown;
    if (length === 0) return;
    const at = this.#shown.indexOf(this.#choice.queue ?? "");
    const from = at === -1 && by < 0 ? length : at;
    const queue = this.#shown[Math.min(length - 1, Math.max(0, from + by))];
    this.#choice = { ...this.#choice, queue };
  }

  [Symbol.dispose](): void {
    this.#keyboard?.off("data", this.#listen);
    this.#keyboard?.setRawMode(false);
    this.#keyboard?.pause();
  }
}

function next(sort: TopChoice["sort"]): TopChoice["sort"] {
  return TOP_SORTS[(TOP_SORTS.indexOf(sort) + 1) % TOP_SORTS.length]!;
}
