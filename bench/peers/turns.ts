// Measures several systems in turns, A B C, B C A, C A B: what slows the machine down for a while
// slows all of them, and no system always follows the same one. A system that fails is removed and
// reported; the others continue.

import { setTimeout } from "node:timers/promises";
import type { Conditions, Progress } from "../figure.ts";
import type { Measurements } from "./state.ts";

// What one run has measured, by name.
export type Sample = Readonly<Record<string, number>>;

export interface Contest extends AsyncDisposable {
  // What a reader must know to compare the figures.
  readonly conditions: Conditions;
  // Counted nowhere: compilers, caches and pools have seen the work before.
  warmUp(): Promise<void>;
  run(): Promise<Sample>;
}

export interface Entrant {
  readonly name: string;
  // It is not compared with Sluice.
  readonly isReference?: boolean;
  open(): Promise<Contest>;
}

export interface Outcome {
  readonly name: string;
  readonly conditions: Conditions;
  readonly samples: readonly Sample[];
  readonly isReference?: boolean;
  // Why there are no samples.
  readonly failure?: string;
}

export interface TurnsOptions {
  // Names the measurements of these turns among all.
  readonly row: string;
  readonly runs: number;
  readonly measurements: Measurements;
  readonly progress: Progress;
  // What hangs is out as well.
  readonly stepMsMax: number;
  // Done before each run, and counted nowhere.
  readonly settle?: () => Promise<void>;
}

export async function takeTurns(
  entrants: readonly Entrant[],
  options: TurnsOptions,
): Promise<Outcome[]> {
  const players = entrants.map((entrant) => new Player(entrant, options));
  const steps = players.length * (2 + options.runs);
  let done = 0;
  const step = async (player: Player, what: string, act: () => Promise<void>): Promise<void> => {
    options.progress(done / steps, `${player.name}: ${what}`);
    await player.attempt(act, options.stepMsMax);
    done += 1;
  };
  try {
    for (const player of players) await step(player, "start", () => player.open());
    for (const player of players) await step(player, "warm-up", () => player.warmUp());
    for (let run = 0; run < options.runs; run++) {
      const what = `run ${run + 1} of ${options.runs}`;
      const first = run % players.length;
      for (const player of [...players.slice(first), ...players.slice(0, first)]) {
        await options.settle?.();
        await step(player, what, () => player.run(run));
      }
    }
  } finally {
    await Promise.all(players.map((player) => player.close()));
  }
  return players.map((player) => player.outcome);
}

class Player {
  readonly name: string;
  readonly #entrant: Entrant;
  readonly #options: TurnsOptions;
  readonly #samples: Sample[] = [];
  #contest: Contest | undefined;
  #conditions: Conditions = {};
  #failure: string | undefined;

  constructor(entrant: Entrant, options: TurnsOptions) {
    this.name = entrant.name;
    this.#entrant = entrant;
    this.#options = options;
  }

  get outcome(): Outcome {
    const { name } = this;
    const reference = this.#entrant.isReference === true ? { isReference: true } : {};
    const failure = this.#failure === undefined ? {} : { failure: this.#failure };
    const told = { conditions: this.#conditions, samples: this.#samples };
    return { name, ...told, ...reference, ...failure };
  }

  async attempt(act: () => Promise<void>, msMax: number): Promise<void> {
    if (this.#failure !== undefined) return;
    const abort = new AbortController();
    const late = setTimeout(msMax, undefined, { signal: abort.signal }).then(() => {
      throw new Error(`not done after ${msMax / 1000} s`);
    });
    // An abort is of no interest to anybody.
    late.catch(() => undefined);
    try {
      await Promise.race([act(), late]);
    } catch (error) {
      this.#failure = error instanceof Error ? error.message : String(error);
      console.error(`${this.#options.row}: ${this.name}: ${this.#failure}`);
      await this.close();
    } finally {
      abort.abort();
    }
  }

  async open(): Promise<void> {
    const { measurements, runs } = this.#options;
    this.#conditions = measurements.get<Conditions>(this.#key("conditions")) ?? {};
    // Everything was measured before: nothing is to be started.
    if (measurements.get(this.#key(runs - 1)) !== undefined) return;
    this.#contest = await this.#entrant.open();
  }

  async warmUp(): Promise<void> {
    await this.#contest?.warmUp();
  }

  async run(run: number): Promise<void> {
    const { measurements } = this.#options;
    const before = measurements.get<Sample>(this.#key(run));
    if (before !== undefined || this.#contest === undefined) {
      this.#samples.push(before!);
      return;
    }
    const sample = await this.#contest.run();
    this.#samples.push(sample);
    this.#conditions = this.#contest.conditions;
    measurements.put(this.#key("conditions"), this.#conditions);
    measurements.put(this.#key(run), sample);
  }

  async close(): Promise<void> {
    const contest = this.#contest;
    this.#contest = undefined;
    await contest?.[Symbol.asyncDispose]();
  }

  #key(what: string | number): string {
    return `${this.#options.row}/${this.name}/${what}`;
  }
}
