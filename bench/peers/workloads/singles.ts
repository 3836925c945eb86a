// Jobs added one at a time, each when the one before is confirmed: how long from the add to the
// handler in the other process. Beside them, what one sync of the disk takes in the same rounds.

import { closeSync, fdatasyncSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Group, Scale } from "../../figure.ts";
import { percentileOf } from "../../percentile.ts";
import type { Scratch } from "../../scratch.ts";
import { groupOf, type Play } from "../compete.ts";
import type { Party } from "../party.ts";
import type { Mode } from "../system.ts";
import type { Contest, Entrant, Sample } from "../turns.ts";

const JOBS = { quick: 200, usual: 500, full: 2000 } as const;
const REST_MS = 1;
const SHARES = [0.5, 0.99];
const SYNC_BYTES = 1024;
const RELAXED = { target: { atMost: 0.3 } };

export const singlesGroups: readonly Group[] = [
  singlesGroup("singles", "sync", "everybody syncs"),
  singlesGroup("singles-relaxed", "relaxed", "relaxed"),
];

function singlesGroup(name: string, mode: Mode, words: string): Group {
  const row = `add → handler, one at a time, ${words}`;
  const shared = { unit: "ms", better: "less" } as const;
  return groupOf({
    name,
    mode,
    work: { isLatency: true },
    metrics: [
      { key: "p50", row: `${row}, p50`, ...shared, ...(mode === "sync" ? {} : RELAXED) },
      { key: "p99", row: `${row}, p99`, ...shared },
      {
        key: "beyondSync",
        row: `${row}, p50 beyond one sync of the disk`,
        unit: "ms",
        better: "neither",
        target: { atMost: 0.5 },
      },
    ],
    play: (party, scale) => new Singles(party, scale, mode),
    more: bareSync,
  });
}

// Shared with the systems of the same round, which come before it: theirs is the one before.
let lastSyncMs = Number.NaN;

class Singles implements Play {
  readonly #party: Party;
  readonly #jobs: number;
  readonly #mode: Mode;

  constructor(party: Party, scale: Scale, mode: Mode) {
    this.#party = party;
    this.#jobs = JOBS[scale.name];
    this.#mode = mode;
  }

  get conditions() {
    return { jobs: this.#jobs, restMs: REST_MS, clock: "from the call of add to the handler" };
  }

  async warmUp(): Promise<void> {
    await this.run();
  }

  async run(): Promise<Sample> {
    const party = this.#party;
    const count = this.#jobs;
    const first = party.take(count);
    await party.begin({ first, count });
    await party.produce("singles", first, count, REST_MS);
    await party.finished();
    const [p50 = 0, p99 = 0] = await party.tell<number[]>("latencies", SHARES);
    await party.stop();
    return this.#mode === "sync" ? { p50, p99, beyondSync: p50 - lastSyncMs } : { p50, p99 };
  }
}

function bareSync(scratch: Scratch, scale: Scale): Entrant {
  return {
    name: "a write and a sync, nothing else",
    isReference: true,
    async open(): Promise<Contest> {
      const fd = openSync(join(scratch.dir, "sync"), "w");
      const run = async (): Promise<Sample> => {
        const bytes = Buffer.alloc(SYNC_BYTES);
        const times: number[] = [];
        for (let i = 0; i < JOBS[scale.name]; i++) {
          const from = performance.now();
          writeSync(fd, bytes);
          fdatasyncSync(fd);
          times.push(performance.now() - from);
        }
        const [p50 = 0, p99 = 0] = SHARES.map((share) => percentileOf(times, share));
        lastSyncMs = p50;
        return { p50, p99 };
      };
      return {
        conditions: { bytes: SYNC_BYTES },
        warmUp: async () => void (await run()),
        run,
        [Symbol.asyncDispose]: async () => closeSync(fd),
      };
    },
  };
}
