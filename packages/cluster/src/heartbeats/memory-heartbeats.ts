import type { Heartbeats } from "./heartbeats.ts";

type OnBeat = (beat: string) => void;

/** Heartbeats within one process, for tests and simulations: one handle for each node. */
export class MemoryHeartbeats implements Heartbeats {
  readonly #listeners: Set<OnBeat>;
  readonly #own = new Set<OnBeat>();
  #isClosed = false;

  /** New ones, or another handle on them. */
  constructor(other?: MemoryHeartbeats) {
    this.#listeners = other === undefined ? new Set() : other.#listeners;
  }

  async send(beat: string): Promise<void> {
    if (this.#isClosed) return;
    // Never within the call that sends it.
    queueMicrotask(() => {
      for (const listener of [...this.#listeners]) listener(beat);
    });
  }

  async listen(onBeat: OnBeat): Promise<() => void> {
    const listener: OnBeat = (beat) => onBeat(beat);
    this.#listeners.add(listener);
    this.#own.add(listener);
    return () => {
      this.#listeners.delete(listener);
      this.#own.delete(listener);
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const listener of this.#own) this.#listeners.delete(listener);
    this.#own.clear();
  }
}
