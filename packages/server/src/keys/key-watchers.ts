import { type Clock, type Timer, wallTime } from "@sluice/protocol";

/** Calls that wait and must end with the right to make them; they look when their key changes. */
export class KeyWatchers {
  readonly #byKey = new Map<string, Set<() => void>>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Calls back when the key was changed and when it expires; the answer ends that. */
  watch(id: string, expiresAt: number | undefined, look: () => void): () => void {
    const watchers = this.#byKey.get(id) ?? new Set();
    this.#byKey.set(id, watchers.add(look));
    const cancel = expiresAt === undefined ? () => {} : this.#at(expiresAt, look);
    return () => {
      cancel();
      watchers.delete(look);
      if (watchers.size === 0 && this.#byKey.get(id) === watchers) this.#byKey.delete(id);
    };
  }

  /** At a time on the wall, whose clock may step meanwhile. */
  #at(time: number, look: () => void): () => void {
    let timer: Timer;
    const wait = (): void => {
      const ms = time - wallTime(this.#clock);
      if (ms <= 0) return look();
      timer = this.#clock.at(this.#clock.now() + ms, wait);
      timer.unref?.();
    };
    wait();
    return () => timer?.cancel();
  }

  /** The key was revoked, or its grants have changed. */
  changed(id: string): void {
    for (const look of [...(this.#byKey.get(id) ?? [])]) look();
  }

  /** Any key may have changed. */
  allChanged(): void {
    for (const id of [...this.#byKey.keys()]) this.changed(id);
  }
}
