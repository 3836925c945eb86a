import type { QueueStats } from "@sluice/protocol";
import { PULSE_MS } from "../limits.ts";

type Look = () => Promise<readonly { name: string; stats: QueueStats }[]>;
export type Heard = (changed: readonly string[]) => void;

/**
 * Tells what has changed, once a second at most and only while there is a listener. It compares
 * figures instead of hearing of every job, so that its cost does not depend on the load.
 */
export class Pulse {
  readonly #look: Look;
  readonly #listeners = new Set<Heard>();
  #known = new Map<string, string>();
  #timer: NodeJS.Timeout | undefined;

  constructor(look: Look) {
    this.#look = look;
  }

  listen(heard: Heard): () => void {
    this.#listeners.add(heard);
    this.#timer ??= setInterval(() => void this.beat(), PULSE_MS);
    return () => {
      this.#listeners.delete(heard);
      if (this.#listeners.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
      this.#known.clear();
    };
  }

  async beat(): Promise<void> {
    // While there is no broker nothing changes, and the pulse continues.
    const queues = await this.#look().catch(() => []);
    const next = new Map(queues.map(({ name, stats }) => [name, figuresOf(stats)]));
    const changed = [...next].filter(([name, figures]) => this.#known.get(name) !== figures);
    const gone = [...this.#known.keys()].filter((name) => !next.has(name));
    this.#known = next;
    const names = [...changed.map(([name]) => name), ...gone];
    for (const heard of this.#listeners) heard(names);
  }
}

function figuresOf(stats: QueueStats): string {
  const { perTier: _, ...figures } = stats;
  return Object.values(figures).join();
}
