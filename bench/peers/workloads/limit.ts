// One limit that all tenants share: is it kept, is it used, and is anything fetched that may not
// run yet? A fetched job that waits is held back from every other consumer.

import type { Group, Scale } from "../../figure.ts";
import { groupOf, type Play } from "../compete.ts";
import type { Pace } from "../pace.ts";
import type { Party } from "../party.ts";
import type { Sample } from "../turns.ts";

const LIMIT_PER_SECOND = 1000;
const TENANTS = 100;
const CONCURRENCY = 100;
const SECONDS = { quick: 3, usual: 5, full: 10 } as const;
const WARM_JOBS = 300;
const row = (what: string): string => `a limit of 1,000/s over 100 tenants: ${what}`;

export const limitGroup: Group = groupOf({
  name: "limit",
  mode: "sync",
  work: { isFair: true, concurrency: CONCURRENCY, limitPerSecond: LIMIT_PER_SECOND },
  metrics: [
    {
      key: "share",
      row: row("share of the limit that was used"),
      unit: "of the limit",
      better: "neither",
      target: { atLeast: 0.99 },
    },
    {
      key: "over",
      row: row("most beyond it in any second"),
      unit: "jobs",
      better: "neither",
      target: { atMost: 0 },
    },
    { key: "inTenth", row: row("most in any tenth of a second"), unit: "jobs", better: "neither" },
    {
      key: "early",
      row: row("fetched before they may run"),
      unit: "of the jobs",
      better: "neither",
      target: { atMost: 0 },
    },
  ],
  play: (party, scale) => new Limit(party, scale),
});

class Limit implements Play {
  readonly #party: Party;
  readonly #jobs: number;

  constructor(party: Party, scale: Scale) {
    this.#party = party;
    this.#jobs = LIMIT_PER_SECOND * SECONDS[scale.name];
  }

  get conditions() {
    return { jobs: this.#jobs, tenants: TENANTS, handlers: CONCURRENCY };
  }

  async warmUp(): Promise<void> {
    await this.#work(WARM_JOBS);
  }

  async run(): Promise<Sample> {
    await this.#work(this.#jobs);
    const pace = await this.#party.tell<Pace & { fetchedEarly: number }>("pace");
    return {
      share: pace.perSecond / LIMIT_PER_SECOND,
      over: Math.max(0, pace.mostInSecond - LIMIT_PER_SECOND),
      inTenth: pace.mostInTenth,
      early: pace.fetchedEarly / this.#jobs,
    };
  }

  async #work(count: number): Promise<void> {
    const party = this.#party;
    const first = party.take(count);
    await party.produce("bulk", first, count, TENANTS);
    await party.begin({ first, count });
    await party.finished();
    await party.stop();
  }
}
