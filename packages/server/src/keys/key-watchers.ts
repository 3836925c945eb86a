/** The longest time that a timer of Node takes. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** Calls that wait and must end with the right to make them; they look when their key changes. */
export class KeyWatchers {
  readonly #byKey = new Map<string, Set<() => void>>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
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

  #at(time: number, look: () => void): () => void {
    let timer: NodeJS.Timeout;
    const arm = (): void => {
      const ms = Math.max(1, time - this.#now() + 1);
      timer = setTimeout(check, Math.min(ms, TIMER_MS_MAX)).unref();
    };
    const check = (): void => {
      if (this.#now() < time) arm();
      else look();
    };
    arm();
    return () => clearTimeout(timer);
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
