/** How the partitions of this node are doing, looked at now and then. */
import type { LocalBroker } from "@sluice/broker";
import { allQueues, type Clock, type Timer } from "@sluice/protocol";
import { FIGURES_MS } from "../limits.ts";

export interface Figure {
  readonly lagMs: number;
  readonly jobs: number;
}

/** What was read, and of which broker. */
interface Known extends Figure {
  readonly broker: LocalBroker;
}

const NOTHING: Figure = { lagMs: 0, jobs: 0 };

export class Figures {
  readonly #clock: Clock;
  readonly #partitions: () => number;
  readonly #brokerOf: (partition: number) => LocalBroker | undefined;
  readonly #figures = new Map<number, Known>();
  #timer: Timer | undefined;
  #isOver = false;

  constructor(
    clock: Clock,
    partitions: () => number,
    brokerOf: (partition: number) => LocalBroker | undefined,
  ) {
    this.#clock = clock;
    this.#partitions = partitions;
    this.#brokerOf = brokerOf;
    this.#next();
  }

  /** A partition that was opened again since has no figures yet: its log is another one. */
  of(partition: number): Figure {
    const known = this.#figures.get(partition);
    return known !== undefined && known.broker === this.#brokerOf(partition) ? known : NOTHING;
  }

  stop(): void {
    this.#isOver = true;
    this.#timer?.cancel();
  }

  #next(): void {
    if (this.#isOver) return;
    this.#timer = this.#clock.at(this.#clock.now() + FIGURES_MS, () => {
      void this.#look().finally(() => this.#next());
    });
    this.#timer.unref?.();
  }

  async #look(): Promise<void> {
    for (let partition = 0; partition < this.#partitions(); partition++) {
      const broker = this.#brokerOf(partition);
      const figure = broker && (await read(broker).catch(() => undefined));
      if (broker === undefined || figure === undefined) this.#figures.delete(partition);
      else this.#figures.set(partition, { ...figure, broker });
    }
  }
}

async function read(broker: LocalBroker): Promise<Figure> {
  const [{ unsyncedFor }, queues] = await Promise.all([broker.stats(), allQueues(broker)]);
  const jobs = queues.reduce(
    (sum, { stats }) => sum + stats.waiting + stats.delayed + stats.running,
    0,
  );
  return { lagMs: Math.round(unsyncedFor), jobs };
}
