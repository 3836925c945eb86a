// Opens all systems for one kind of work, measures them in turns, and reports the figures.

import { execFile, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync } from "node:fs";
import { availableParallelism, cpus, release } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Conditions, Group, Scale } from "../figure.ts";
import { Scratch } from "../scratch.ts";
import { cacheDir } from "./debian.ts";
import { Party, type Work } from "./party.ts";
import { figuresOf, type Metric } from "./row.ts";
import { FORGETFUL, type Measurements, StateFile } from "./state.ts";
import type { Mode } from "./system.ts";
import { SYSTEMS } from "./systems.ts";
import { type Contest, type Entrant, type Outcome, type Sample, takeTurns } from "./turns.ts";

// The slowest to fill a backlog puts some hundreds of jobs in a second.
const STEP_MS_MAX = { quick: 300_000, usual: 1_200_000, full: 3_600_000 } as const;

const GIT_BYTES_MAX = 2 ** 26;

export interface Play {
  readonly conditions: Conditions;
  warmUp(): Promise<void>;
  run(): Promise<Sample>;
}

export interface Competition {
  readonly name: string;
  readonly mode: Mode;
  readonly work: Work;
  readonly metrics: readonly Metric[];
  play(party: Party, scale: Scale, second: Party): Play;
  // Each system has a second party, with a server of its own, to compare the first one with.
  readonly isTwice?: boolean;
  // What all systems together may need of the disk.
  diskBytes?(scale: Scale): number;
  // Beside the systems, in each round.
  readonly more?: (scratch: Scratch, scale: Scale) => Entrant;
}

export function groupOf(competition: Competition): Group {
  const { name, metrics } = competition;
  return {
    name,
    async run(scale, report, progress) {
      using scratch = new Scratch();
      // Servers run as another user, each in a directory of its own below this one.
      chmodSync(scratch.dir, 0o711);
      warnOfSpace(competition.diskBytes?.(scale) ?? 0, scratch);
      // A listener for the end of each of their processes.
      process.setMaxListeners(0);
      const outcomes = await takeTurns(entrantsOf(competition, scratch, scale), {
        row: name,
        runs: scale.runs,
        measurements: measurementsOf(scale),
        progress,
        stepMsMax: STEP_MS_MAX[scale.name],
        settle: syncDisks,
      });
      outcomes.push(...absent(competition.mode));
      for (const metric of metrics) {
        // No system was measured for this metric in this mode.
        if (!outcomes.some(({ samples }) => samples[0]?.[metric.key] !== undefined)) continue;
        for (const figure of figuresOf(metric, outcomes)) {
          report({ ...figure, conditions: { ...figure.conditions, disk: scratch.disk } });
        }
      }
    },
  };
}

// If the disk fills up during a run, the system that writes at that moment fails, not the one that
// filled it.
function warnOfSpace(bytes: number, { freeBytes, disk }: Scratch): void {
  if (freeBytes >= bytes) return;
  const [need, free] = [bytes, freeBytes].map((value) => (value / 1e9).toFixed(0));
  console.error(`This may need ${need} GB, and ${free} GB are free: ${disk}.`);
}

// Systems without this mode are reported too.
function absent(mode: Mode): Outcome[] {
  return SYSTEMS.filter(({ modes }) => modes[mode] === undefined).map(({ name, lacks }) => ({
    name,
    conditions: {},
    samples: [],
    failure: lacks ?? "it has no such mode",
  }));
}

// What one system has left in the cache of the operating system is not written in another's turn.
async function syncDisks(): Promise<void> {
  await promisify(execFile)("sync");
}

function entrantsOf(competition: Competition, scratch: Scratch, scale: Scale): Entrant[] {
  const { mode, work, more } = competition;
  const systems = SYSTEMS.filter(({ modes }) => modes[mode] !== undefined);
  const entrants = systems.map(
    (system): Entrant => ({
      name: system.name,
      async open(): Promise<Contest> {
        await using opening = new AsyncDisposableStack();
        const open = async (): Promise<Party> =>
          opening.use(await Party.open(system, mode, scratch, work));
        const party = await open();
        const second = competition.isTwice === true ? await open() : party;
        const play = competition.play(party, scale, second);
        const opened = opening.move();
        return {
          get conditions() {
            return { ...party.conditions, ...play.conditions };
          },
          warmUp: () => play.warmUp(),
          run: () => play.run(),
          [Symbol.asyncDispose]: () => opened.disposeAsync(),
        };
      },
    }),
  );
  return more === undefined ? entrants : [...entrants, more(scratch, scale)];
}

export function statePath(): string {
  return join(cacheDir(), "full.json");
}

export function measurementsOf(scale: Scale): Measurements {
  if (scale.name !== "full") return FORGETFUL;
  const machine = [cpus()[0]?.model, availableParallelism(), release(), process.version];
  const state = new StateFile(statePath(), [...machine, commit()].join(", "));
  if (state.count > 0) {
    console.error(
      `${state.count} figures of before are taken over; without ${statePath()} none are.`,
    );
  }
  return state;
}

// What is measured, with what was changed since; of a tree without Git, nothing is known.
function commit(): string {
  const git = (...args: string[]): string =>
    spawnSync("git", args, { encoding: "utf8", maxBuffer: GIT_BYTES_MAX }).stdout ?? "";
  const changes = git("diff", "HEAD") + git("status", "--porcelain");
  const hash = changes === "" ? "" : createHash("sha256").update(changes).digest("hex");
  return [git("rev-parse", "HEAD").trim(), hash].join(" ");
}
