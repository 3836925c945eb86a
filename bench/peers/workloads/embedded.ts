// A durable queue in the process: Sluice compared with plainjob on SQLite, synced and relaxed.

import { join } from "node:path";
import { EmbeddedLoad } from "../../embedded/load.ts";
import { Peer } from "../../embedded/peer.ts";
import type { Figure, Group, Progress, Scale } from "../../figure.ts";
import { Scratch } from "../../scratch.ts";
import { measurementsOf } from "../compete.ts";
import { packageVersion } from "../package-version.ts";
import { figuresOf, type Metric } from "../row.ts";
import type { Mode } from "../system.ts";
import { SLUICE } from "../systems.ts";
import { type Contest, type Entrant, takeTurns } from "../turns.ts";

const SLUICE_JOBS = { quick: 50_000, usual: 200_000, full: 500_000 } as const;
// A job of the peer takes two syncs.
const PEER_JOBS = { quick: 1000, usual: 5000, full: 20_000 } as const;
const STEP_MS_MAX = 600_000;

const WORK =
  "in one process, objects of 512 bytes as JSON; jobs are counted, their ids are not compared";
const SPEED = { key: "perSecond", unit: "jobs/s", better: "more" } as const;
const METRICS: Readonly<Record<Mode, Metric>> = {
  sync: {
    ...SPEED,
    row: "embedded: add, work, ack, everybody syncs",
    times: { "plainjob on better-sqlite3": 10 },
    target: { atLeast: 150_000 },
  },
  relaxed: { ...SPEED, row: "embedded: add, work, ack, relaxed" },
};

export const embeddedGroups: readonly Group[] = [
  embeddedGroup("embedded", "sync"),
  embeddedGroup("embedded-relaxed", "relaxed"),
];

function embeddedGroup(name: string, mode: Mode): Group {
  return { name, run: (...told) => measure(name, mode, ...told) };
}

async function measure(
  name: string,
  mode: Mode,
  scale: Scale,
  report: (figure: Figure) => void,
  progress: Progress,
): Promise<void> {
  using scratch = new Scratch();
  const entrants = [sluice(scratch, scale, mode), plainjob(scratch, scale, mode)];
  const outcomes = await takeTurns(entrants, {
    row: name,
    runs: scale.runs,
    measurements: measurementsOf(scale),
    progress,
    stepMsMax: STEP_MS_MAX,
  });
  for (const figure of figuresOf(METRICS[mode], outcomes)) {
    report({ ...figure, conditions: { ...figure.conditions, disk: scratch.disk } });
  }
}

function sluice(scratch: Scratch, scale: Scale, mode: Mode): Entrant {
  const durability = mode === "sync" ? "fsync" : "os";
  return {
    name: SLUICE,
    async open(): Promise<Contest> {
      const dir = scratch.fresh();
      const load = await EmbeddedLoad.open({ durability, shape: "json", dir });
      const jobs = SLUICE_JOBS[scale.name];
      return {
        conditions: { durability, version: packageVersion("sluice"), jobs, work: WORK },
        warmUp: async () => void (await load.bulk(jobs)),
        run: async () => ({ perSecond: await load.bulk(jobs) }),
        [Symbol.asyncDispose]: () => load[Symbol.asyncDispose](),
      };
    },
  };
}

function plainjob(scratch: Scratch, scale: Scale, mode: Mode): Entrant {
  // The second is its own default.
  const level = mode === "sync" ? "FULL" : "NORMAL";
  return {
    name: "plainjob on better-sqlite3",
    async open(): Promise<Contest> {
      const version = `${packageVersion("plainjob")}, ${packageVersion("better-sqlite3")}`;
      const peer = new Peer(join(scratch.dir, "plainjob.db"), level);
      const jobs = PEER_JOBS[scale.name];
      return {
        conditions: { durability: `synchronous=${level}`, version, jobs, ...peer.conditions },
        warmUp: async () => void (await peer.run(jobs)),
        run: async () => ({ perSecond: await peer.run(jobs) }),
        [Symbol.asyncDispose]: async () => peer[Symbol.dispose](),
      };
    },
  };
}
