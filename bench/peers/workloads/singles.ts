// Jobs added one at a time, each when the one before is confirmed: how long from the add to the
// handler in the other process. Beside them, what one sync of the disk takes: in the same rounds,
// and right before each system's turn, which is what its own figure is compared with.

import { closeSync, fdatasyncSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Group, Scale } from "../../figure.ts";
import { percentileOf } from "../../percentile.ts";
import type { Scratch } from "../../scratch.ts";
import { groupOf, type Play } from "../compete.ts";
import type { Party } from "../party.ts";
import type { Mode } from "../system.ts";
import { SYNCED } from "../systems.ts";
import type { Contest, Entrant, Sample } from "../turns.ts";

const JOBS = { quick: 150, usual: 1000, full: 2000 } as const;
const REST_MS = 1;
const SHARES = [0.5, 0.99];
const SYNC_BYTES = 1024;
const SYNCS_BEFORE = 150;
const RELAXED = { target: { atMost: 0.3 } };

export const singlesGroups: readonly Group[] = [
  singlesGroup("singles", "sync", SYNCED),
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
        better: "less",
        compare: "difference",
        target: { atMost: 0.5 },
      },
    ],
    play: (party, scale) => new Singles(party, scale, mode),
    more: bareSync,
  });
}

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
    return {
      work: `${this.#jobs} jobs in a run, ${REST_MS} ms apart, from the call of add to the handler`,
      jobs: this.#jobs,
    };
  }

  async warmUp(): Promise<void> {
    await this.run();
  }

  async run(): Promise<Sample> {
    const party = this.#party;
    const count = this.#jobs;
    const first = party.take(count);
    const syncMs = this.#mode === "sync" ? medianSyncMs(party.scratch) : 0;
    await party.ready({ first, count });
    await party.start();
    await party.produce("singles", first, count, REST_MS);
    await party.finished();
    const [p50 = 0, p99 = 0] = await party.tell<number[]>("latencies", SHARES);
    await party.stop();
    return this.#mode === "sync" ? { p50, p99, beyondSync: p50 - syncMs } : { p50, p99 };
  }
}

function bareSync(scratch: Scratch, scale: Scale): Entrant {
  return {
    name: "a write and a sync, nothing else",
    isReference: true,
    async open(): Promise<Contest> {
      const fd = openSync(join(scratch.dir, "sync"), "w");
      const run = async (): Promise<Sample> => {
        const times = syncTimes(fd, JOBS[scale.name]);
        const [p50 = 0, p99 = 0] = SHARES.map((share) => percentileOf(times, share));
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

function medianSyncMs(scratch: Scratch): number {
  const fd = openSync(join(scratch.dir, "sync-before"), "w");
  try {
    return percentileOf(syncTimes(fd, SYNCS_BEFORE), 0.5);
  } finally {
    closeSync(fd);
  }
}

function syncTimes(fd: number, count: number): number[] {
  const bytes = Buffer.alloc(SYNC_BYTES);
  return Array.from({ length: count }, () => {
    const from = performance.now();
    writeSync(fd, bytes);
    fdatasyncSync(fd);
    return performance.now() - from;
  });
}
