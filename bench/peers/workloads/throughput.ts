// Bulk produce, drain, and both at once, each for about as long: the jobs of a run follow from the
// speed of the warm-up, so that no system is measured for a blink and none for minutes.

import type { Group, Scale } from "../../figure.ts";
import { type Competition, groupOf, type Play } from "../compete.ts";
import type { Party } from "../party.ts";
import type { Mode } from "../system.ts";
import { SYNCED } from "../systems.ts";
import type { Sample } from "../turns.ts";

const TENANTS = 10;
const FIRST_JOBS = 1000;
const JOBS_MIN = 500;
const SECONDS = { quick: 0.7, usual: 2, full: 4 } as const;
const WARM_SECONDS = 0.3;

// What Sluice means to be, with everything synced.
const TIMES = {
  BullMQ: 10,
  "Bee-Queue": 5,
  "pg-boss": 5,
  "Graphile Worker": 5,
  "Graphile Worker, batched": 5,
  "NATS JetStream": 5,
};

const BOTH_TARGET = { atLeast: 100_000 };

export const throughputGroups: readonly Group[] = [
  groupOf(competitionOf("throughput", "sync", SYNCED)),
  groupOf(competitionOf("throughput-relaxed", "relaxed", "relaxed")),
];

function competitionOf(name: string, mode: Mode, words: string): Competition {
  const speed = { unit: "jobs/s", better: "more" } as const;
  const meant = mode === "sync" ? { times: TIMES, target: BOTH_TARGET } : {};
  return {
    name,
    mode,
    work: {},
    metrics: [
      { key: "both", row: `produce and drain at once, ${words}`, ...speed, ...meant },
      { key: "produce", row: `bulk produce, ${words}`, ...speed },
      { key: "drain", row: `drain, ${words}`, ...speed },
    ],
    play: (party, scale) => new Throughput(party, scale),
  };
}

class Throughput implements Play {
  readonly #party: Party;
  readonly #seconds: number;
  #inTurn = FIRST_JOBS;
  #atOnce = FIRST_JOBS;

  constructor(party: Party, scale: Scale) {
    this.#party = party;
    this.#seconds = SECONDS[scale.name];
  }

  get conditions() {
    return {
      work: `objects of 512 bytes as JSON, about ${this.#seconds} s each; produce: until the last confirm; drain, with a consumer that is connected before: until the last ack is stored`,
      jobsInTurn: this.#inTurn,
      jobsAtOnce: this.#atOnce,
    };
  }

  async warmUp(): Promise<void> {
    this.#resize(await this.#measure(), WARM_SECONDS);
    await this.run();
  }

  // A machine that was busy during one run is not during the next: the sizes follow.
  async run(): Promise<Sample> {
    const sample = await this.#measure();
    this.#resize(sample, this.#seconds);
    return sample;
  }

  async #measure(): Promise<Sample> {
    const { produce, drain } = await this.#oneAfterTheOther(this.#inTurn);
    return { produce, drain, both: await this.#both(this.#atOnce) };
  }

  #resize({ produce, drain, both }: Sample, seconds: number): void {
    const inTurn = (2 * seconds) / (1 / produce! + 1 / drain!);
    this.#inTurn = Math.max(JOBS_MIN, Math.round(inTurn));
    this.#atOnce = Math.max(JOBS_MIN, Math.round(both! * seconds));
  }

  async #oneAfterTheOther(count: number): Promise<{ produce: number; drain: number }> {
    const party = this.#party;
    const first = party.take(count);
    await party.ready({ first, count });
    const begun = performance.now();
    await party.produce("bulk", first, count, TENANTS);
    const produced = performance.now();
    await party.start();
    await party.finished();
    const drained = performance.now();
    await party.stop();
    const perSecond = (ms: number): number => (count * 1000) / ms;
    return { produce: perSecond(produced - begun), drain: perSecond(drained - produced) };
  }

  async #both(count: number): Promise<number> {
    const party = this.#party;
    const first = party.take(count);
    await party.ready({ first, count });
    await party.start();
    const begun = performance.now();
    await Promise.all([party.produce("bulk", first, count, TENANTS), party.finished()]);
    const ms = performance.now() - begun;
    await party.stop();
    return (count * 1000) / ms;
  }
}
