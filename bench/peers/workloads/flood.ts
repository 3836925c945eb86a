// Many tenants, one of whom floods: all handlers have work for some seconds when the others come,
// at a rate that every system carries many times over. How long do they wait?
//
// The flood is as large as what the system finishes in that time: for one that serves in the order
// of arrival the wait is the length of the flood, whatever its speed.

import type { Group, Scale } from "../../figure.ts";
import { groupOf, type Play } from "../compete.ts";
import type { Party } from "../party.ts";
import type { Sample } from "../turns.ts";

const CONCURRENCY = 20;
const HANDLER_MS = 5;
const QUIET_PER_SECOND = 100;
const SIZES = {
  quick: { tenants: 1000, floodSeconds: 1.5 },
  usual: { tenants: 10_000, floodSeconds: 10 },
  full: { tenants: 10_000, floodSeconds: 20 },
} as const;
// The quiet have all come before the flood is over.
const QUIET_SHARE = 0.8;
const SHARES = [0.5, 0.99];

export const floodGroup: Group = groupOf({
  name: "flood",
  mode: "sync",
  work: { isFair: true, concurrency: CONCURRENCY },
  metrics: [
    { key: "p50", row: "one tenant floods: wait of the quiet, p50", unit: "ms", better: "less" },
    { key: "p99", row: "one tenant floods: wait of the quiet, p99", unit: "ms", better: "less" },
    {
      key: "overtaken",
      row: "one tenant floods: its jobs served before a quiet one, p99",
      unit: "jobs",
      better: "less",
      compare: "difference",
    },
    {
      key: "perSecond",
      row: "one tenant floods: all jobs together",
      unit: "jobs/s",
      better: "more",
    },
  ],
  play: (party, scale) => new Flood(party, scale),
});

class Flood implements Play {
  readonly #party: Party;
  readonly #tenants: number;
  readonly #floodSeconds: number;
  #flood = 0;

  constructor(party: Party, scale: Scale) {
    this.#party = party;
    this.#tenants = SIZES[scale.name].tenants;
    this.#floodSeconds = SIZES[scale.name].floodSeconds;
  }

  get #quiet(): number {
    return Math.round(QUIET_PER_SECOND * this.#floodSeconds * QUIET_SHARE);
  }

  get conditions() {
    const tenants = this.#tenants.toLocaleString("en-US");
    return {
      work: `${tenants} tenants, ${CONCURRENCY} handlers of ${HANDLER_MS} ms; a flood as large as the system finishes in ${this.#floodSeconds} s, and ${this.#quiet} jobs of the quiet, ${QUIET_PER_SECOND} a second for everybody`,
      tenants: this.#tenants,
      flood: this.#flood,
    };
  }

  // Every tenant has a job, so that all of them are known; how fast they are finished tells how
  // large the first flood must be, and that one how large the next.
  async warmUp(): Promise<void> {
    const party = this.#party;
    const count = this.#tenants;
    const first = party.take(count);
    await party.ready({ first, count, handlerMs: HANDLER_MS });
    await party.produce("bulk", first, count, count);
    const begun = performance.now();
    await party.start();
    await party.finished();
    this.#resize((count * 1000) / (performance.now() - begun));
    await party.stop();
    await this.run();
  }

  async run(): Promise<Sample> {
    const party = this.#party;
    const count = this.#flood + this.#quiet;
    const first = party.take(count);
    await party.ready({ first, count, handlerMs: HANDLER_MS });
    await party.produce("bulk", first, this.#flood, 1);
    const begun = performance.now();
    await party.start();
    await party.pace({
      first: first + this.#flood,
      count: this.#quiet,
      perSecond: QUIET_PER_SECOND,
      tenants: this.#tenants,
    });
    await party.finished();
    const perSecond = (count * 1000) / (performance.now() - begun);
    const [p50 = 0, , p99 = 0, overtaken = 0] = await party.tell<number[]>("quiet", SHARES);
    await party.stop();
    this.#resize(perSecond);
    return { p50, p99, overtaken, perSecond };
  }

  #resize(perSecond: number): void {
    this.#flood = Math.round(perSecond * this.#floodSeconds);
  }
}
