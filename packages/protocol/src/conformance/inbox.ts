import type { LeasedJob } from "../job.ts";
import type { ConsumeOptions, Consumer } from "../port.ts";
import { show, textOf } from "./check.ts";
import type { Patience } from "./opened.ts";

/** A consumer and all that has been delivered to it. */
export class Inbox {
  readonly #scene: Patience;
  readonly jobs: LeasedJob[] = [];
  #consumer: Consumer | undefined;

  private constructor(scene: Patience) {
    this.#scene = scene;
  }

  static async open(scene: Patience, queue: string, options: ConsumeOptions): Promise<Inbox> {
    const inbox = new Inbox(scene);
    inbox.#consumer = await scene.broker.consume(queue, options, (jobs) => {
      inbox.jobs.push(...jobs);
    });
    return inbox;
  }

  get consumer(): Consumer {
    return this.#consumer!;
  }

  get texts(): string[] {
    return this.jobs.map(textOf);
  }

  /** Waits for deliveries that must come without time passing; answers all there are by then. */
  async holds(count: number, what: string): Promise<LeasedJob[]> {
    const got = (): string =>
      `${what}: expected ${count} deliveries, got ${this.jobs.length} (${show(this.texts)})`;
    await this.#scene.until(() => this.jobs.length >= count, got);
    // What comes too much comes a little later.
    await this.#scene.settle();
    await this.#scene.until(() => this.jobs.length === count, got);
    return this.jobs;
  }
}
