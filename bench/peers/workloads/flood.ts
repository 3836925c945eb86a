// Many tenants, one of whom floods: all handlers have work for long when the others come, at a
// quarter of what the handlers can take. How long do they wait?

import type { Group, Scale } from "../../figure.ts";
import { groupOf, type Play } from "../compete.ts";
import type { Party } from "../party.ts";
import type { Sample } from "../turns.ts";

const CONCURRENCY = 20;
const HANDLER_MS = 5;
const SIZES = {
  quick: { tenants: 1000, flood: 4000 },
  usual: { tenants: 10_000, flood: 40_000 },
  full: { tenants: 10_000, flood: 100_000 },
} as const;
const QUIET_PER_SECOND = (CONCURRENCY * 1000) / HANDLER_MS / 4;
const SHARES = [0.5, 0.99];
const WARM = { tenants: 200, flood: 500 };

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
      better: "neither",
    },
    {
      key: "perSecond",
      row: "one tenant floods: all jobs together",
      unit: "jobs/s",
      better: "neither",
    },
  ],
  play: (party, scale) => new Flood(party, scale),
});

class Flood implements Play {
  readonly #party: Party;
  readonly #sizes: { readonly tenants: number; readonly flood: number };

  constructor(party: Party, scale: Scale) {
    this.#party = party;
    this.#sizes = SIZES[scale.name];
  }

  get conditions() {
    return {
      ...this.#sizes,
      quietPerSecond: QUIET_PER_SECOND,
      handlers: `${CONCURRENCY} of ${HANDLER_MS} ms`,
    };
  }

  async warmUp(): Promise<void> {
    await this.#flood(WARM);
  }

  run(): Promise<Sample> {
    return this.#flood(this.#sizes);
  }

  async #flood({ tenants, flood }: { tenants: number; flood: number }): Promise<Sample> {
    const party = this.#party;
    const quiet = tenants - 1;
    const count = flood + quiet;
    const first = party.take(count);
    await party.produce("bulk", first, flood, 1);
    const begun = performance.now();
    await party.begin({ first, count, handlerMs: HANDLER_MS });
    await party.produce("paced", first + flood, quiet, QUIET_PER_SECOND);
    await party.finished();
    const perSecond = (count * 1000) / (performance.now() - begun);
    const [p50 = 0, , p99 = 0, overtaken = 0] = await party.tell<number[]>("quiet", SHARES);
    await party.stop();
    return { p50, p99, overtaken, perSecond };
  }
}
