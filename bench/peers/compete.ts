// All systems at one kind of work: opened, measured in turns, and told.

import { spawnSync } from "node:child_process";
import { chmodSync } from "node:fs";
import { availableParallelism, cpus, release } from "node:os";
import { join } from "node:path";
import type { Conditions, Group, Scale } from "../figure.ts";
import { Scratch } from "../scratch.ts";
import { cacheDir } from "./debian.ts";
import { Party, type Work } from "./party.ts";
import { figuresOf, type Metric } from "./row.ts";
import { FORGETFUL, type Measurements, StateFile } from "./state.ts";
import type { Mode } from "./system.ts";
import { SYSTEMS } from "./systems.ts";
import { type Contest, type Entrant, type Sample, takeTurns } from "./turns.ts";

const STEP_MS_MAX = 300_000;
const STEP_MS_MAX_FULL = 3_600_000;

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
  play(party: Party, scale: Scale): Play;
  // Beside the systems, at the end of each round.
  readonly more?: (scratch: Scratch, scale: Scale) => Entrant;
}

export function groupOf(competition: Competition): Group {
  const { name, metrics } = competition;
  return {
    name,
    async run(scale, report, progress) {
      using scratch = new Scratch();
      // Servers run as somebody else, each in a directory of its own below.
      chmodSync(scratch.dir, 0o711);
      // A listener for the end of each of their processes.
      process.setMaxListeners(0);
      const outcomes = await takeTurns(entrantsOf(competition, scratch, scale), {
        row: name,
        runs: scale.runs,
        measurements: measurementsOf(scale),
        progress,
        stepMsMax: scale.name === "full" ? STEP_MS_MAX_FULL : STEP_MS_MAX,
      });
      for (const metric of metrics) {
        const known = outcomes.filter(
          ({ failure, samples }) => failure !== undefined || samples[0]?.[metric.key] !== undefined,
        );
        // Measured by nobody in this mode.
        if (!known.some(({ failure }) => failure === undefined)) continue;
        for (const figure of figuresOf(metric, known)) {
          report({ ...figure, conditions: { ...figure.conditions, disk: scratch.disk } });
        }
      }
    },
  };
}

function entrantsOf(competition: Competition, scratch: Scratch, scale: Scale): Entrant[] {
  const { mode, work, more } = competition;
  const systems = SYSTEMS.filter(({ modes }) => modes[mode] !== undefined);
  const entrants = systems.map(
    (system): Entrant => ({
      name: system.name,
      async open(): Promise<Contest> {
        const party = await Party.open(system, mode, scratch, work);
        const play = competition.play(party, scale);
        return {
          get conditions() {
            return { ...party.conditions, ...play.conditions };
          },
          warmUp: () => play.warmUp(),
          run: () => play.run(),
          [Symbol.asyncDispose]: () => party[Symbol.asyncDispose](),
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
  return new StateFile(statePath(), [...machine, commit()].join(", "));
}

// What is measured; of a tree without Git, nothing is known.
function commit(): string {
  const { stdout } = spawnSync("git", ["rev-parse", "HEAD"], { encoding: "utf8" });
  return stdout?.trim() ?? "";
}
