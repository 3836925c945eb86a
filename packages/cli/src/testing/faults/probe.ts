// One queue in each partition, with an add ten times a second and a consumer: how long each of them
// was silent, as a client sees it that knows all nodes.

import { homeOfQueue } from "@sluice/cluster/router";
import type { Broker } from "@sluice/protocol";
import type { ClusterHistory } from "../cluster-history.ts";
import { wait } from "../cluster-load.ts";

const PAUSE_MS = 100;
const CREDITS = 50;
const SETTLE_MS = 90_000;
const LOOK_MS = 25;
const SILENT_MS = 500;
// A job that went out to a node that was killed comes back within the time that is waited for.
const QUEUE = {
  lease: 8_000,
  retry: { attempts: 1_000, min: 1, max: 50 },
  results: { jobs: 100_000, ttl: 3_600_000 },
} as const;

export interface Silence {
  readonly addMs: number;
  readonly dispatchMs: number;
}

interface Pulse {
  readonly queue: string;
  lastAdd: number;
  lastDelivery: number;
  longestAddMs: number;
  longestDispatchMs: number;
  adds: number;
}

export class PartitionProbe {
  readonly #broker: Broker;
  readonly #history: ClusterHistory;
  readonly #pulses: readonly Pulse[];
  readonly errors: string[] = [];
  #loops: Promise<void>[] = [];
  #isOver = false;
  #next = 0;
  // A partition was silent for longer than it usually is.
  onSilence: (text: string) => void = () => {};

  private constructor(broker: Broker, history: ClusterHistory, partitions: number) {
    this.#broker = broker;
    this.#history = history;
    this.#pulses = Array.from({ length: partitions }, (_, partition) => ({
      queue: queueIn(partition, partitions),
      lastAdd: 0,
      lastDelivery: 0,
      longestAddMs: 0,
      longestDispatchMs: 0,
      adds: 0,
    }));
  }

  static async start(
    broker: Broker,
    history: ClusterHistory,
    partitions: number,
  ): Promise<PartitionProbe> {
    const probe = new PartitionProbe(broker, history, partitions);
    for (const pulse of probe.#pulses) {
      await broker.setQueue(pulse.queue, QUEUE);
      await probe.#consume(pulse);
    }
    probe.mark();
    probe.#loops = probe.#pulses.map((pulse) => probe.#add(pulse));
    return probe;
  }

  // Silence is counted from now on.
  mark(): void {
    const now = performance.now();
    for (const pulse of this.#pulses) {
      pulse.lastAdd = now;
      pulse.lastDelivery = now;
      pulse.longestAddMs = 0;
      pulse.longestDispatchMs = 0;
      pulse.adds = 0;
    }
  }

  // Each partition has confirmed some more adds since the mark.
  async more(count = 3): Promise<void> {
    const wanted = this.#pulses.map(({ adds }) => adds + count);
    const endAt = Date.now() + SETTLE_MS;
    while (this.#pulses.some(({ adds }, i) => adds < wanted[i]!)) {
      if (Date.now() > endAt) {
        const silent = this.#pulses.flatMap(({ adds }, i) => (adds < wanted[i]! ? [i] : []));
        throw new Error(`partitions ${silent} take no adds: ${this.errors.at(-1)}`);
      }
      await wait(LOOK_MS);
    }
  }

  // The longest since the mark of any partition.
  silence(): Silence {
    const now = performance.now();
    const longest = (of: (pulse: Pulse) => number): number =>
      Math.round(Math.max(...this.#pulses.map(of)));
    return {
      addMs: longest((pulse) => Math.max(pulse.longestAddMs, now - pulse.lastAdd)),
      dispatchMs: longest((pulse) => Math.max(pulse.longestDispatchMs, now - pulse.lastDelivery)),
    };
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#loops);
  }

  #tell({ queue }: Pulse, what: string, ms: number): void {
    if (ms > SILENT_MS) this.onSilence(`${queue}: ${what} after ${Math.round(ms)} ms`);
  }

  async #add(pulse: Pulse): Promise<void> {
    while (!this.#isOver) {
      const name = `probe ${this.#next++}`;
      const payload = new TextEncoder().encode(JSON.stringify(name));
      try {
        const [outcome] = await this.#broker.add(pulse.queue, [{ payload }]);
        if (outcome?.error !== undefined) throw outcome.error;
        this.#history.added(name, outcome!.ok!.id);
        const now = performance.now();
        this.#tell(pulse, "add", now - pulse.lastAdd);
        pulse.longestAddMs = Math.max(pulse.longestAddMs, now - pulse.lastAdd);
        pulse.lastAdd = now;
        pulse.adds++;
      } catch (error) {
        this.errors.push(`${pulse.queue}: ${error}`);
        this.onSilence(this.errors.at(-1)!);
      }
      await wait(PAUSE_MS);
    }
  }

  async #consume(pulse: Pulse): Promise<void> {
    const options = { worker: `worker of ${pulse.queue}`, credits: CREDITS };
    const consumer = await this.#broker.consume(pulse.queue, options, (jobs) => {
      const at = performance.now();
      this.#tell(pulse, "delivery", at - pulse.lastDelivery);
      pulse.longestDispatchMs = Math.max(pulse.longestDispatchMs, at - pulse.lastDelivery);
      pulse.lastDelivery = at;
      for (const { id, lease, payload } of jobs) {
        const name: string = JSON.parse(new TextDecoder().decode(payload));
        // Of its lease nothing is claimed: a delivery may have lain in a cut connection.
        const delivery = { id, lease, name, gate: undefined, at, until: at };
        this.#history.delivered(delivery);
        void this.#finish(id, lease);
      }
      consumer.addCredits(jobs.length);
    });
  }

  async #finish(id: string, lease: string): Promise<void> {
    try {
      const [outcome] = await this.#broker.ack([{ lease }]);
      this.#history.acked(lease, outcome?.error?.code ?? "acked");
      if (outcome?.error === undefined) this.#history.finished(id);
    } catch {
      // It may have arrived or not: the history decides in the end.
    }
  }
}

function queueIn(partition: number, partitions: number): string {
  for (let i = 0; ; i++) {
    const name = `probe-${i}`;
    if (homeOfQueue(name, partitions) === partition) return name;
  }
}
