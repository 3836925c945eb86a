// One limit that all tenants share: is it kept, is it used, and is anything fetched that may not
// run yet? A fetched job that waits is held back from every other consumer.

import type { Group, Scale } from "../../figure.ts";
import { groupOf, type Play } from "../compete.ts";
import { type Pace, WINDOW_MS } from "../pace.ts";
import type { Party } from "../party.ts";
import { SLUICE } from "../systems.ts";
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
      better: "more",
      target: { atLeast: 0.99 },
    },
    {
      key: "over",
      row: row(`most beyond it in any ${WINDOW_MS} ms`),
      unit: "jobs",
      better: "less",
      compare: "difference",
      target: { atMost: 0 },
    },
    { key: "inTenth", row: row("most in any tenth of a second"), unit: "jobs", better: "less" },
    {
      key: "early",
      row: row("fetched before they may run"),
      unit: "of the jobs",
      better: "neither",
      missing: {
        [SLUICE]: "none, by construction: its server hands out no job before its time",
        BullMQ:
          "none, by construction: its server answers a fetch before its time with no job; such answers are not counted",
      },
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
    return {
      work: `${this.#jobs.toLocaleString("en-US")} jobs that wait, ${TENANTS} tenants, ${CONCURRENCY} handlers; windows of ${WINDOW_MS} ms, because the way from the server to the handler is not always as long`,
      jobs: this.#jobs,
    };
  }

  async warmUp(): Promise<void> {
    await this.#work(WARM_JOBS);
  }

  async run(): Promise<Sample> {
    await this.#work(this.#jobs);
    const pace = await this.#party.tell<Pace & { fetchedEarly?: number }>("pace");
    const { fetchedEarly } = pace;
    return {
      share: Math.min(1, pace.perSecond / LIMIT_PER_SECOND),
      over: Math.max(0, pace.mostInWindow - LIMIT_PER_SECOND),
      inTenth: pace.mostInTenth,
      ...(fetchedEarly === undefined ? {} : { early: fetchedEarly / this.#jobs }),
    };
  }

  async #work(count: number): Promise<void> {
    const party = this.#party;
    const first = party.take(count);
    await party.ready({ first, count });
    await party.produce("bulk", first, count, TENANTS);
    await party.start();
    await party.finished();
    await party.stop();
  }
}
