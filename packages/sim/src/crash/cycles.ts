// Kills a process again and again, restarts it on the same data, and judges its whole history.

import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Checker } from "../broker-faults/checker.ts";
import type { HistoryRecord } from "../broker-faults/record.ts";
import type { Memory } from "../broker-faults/workload.ts";
import { Broken } from "../demand.ts";
import { Random } from "../random.ts";
import { drain } from "./drain.ts";
import type { Start } from "./start.ts";
import { judgeSteps, type StepFiles } from "./step-load.ts";

const CHILD = fileURLToPath(new URL("child/main.ts", import.meta.url));
// How long a process lives once it is open, at most; and when it is killed before that.
const LIFE_MS_MAX = 150;
const EARLY_MS_MAX = 200;
const HANG_MS = 20_000;
const LOOK_MS = 100;
const HELD_MAX = 40;
const IDS_MAX = 200;

export class Cycles {
  readonly checker = new Checker();
  stepTotals = { steps: 0, jobs: 0 };
  readonly #random: Random;
  readonly #folder: string;
  readonly #seed: number;
  #life = 0;
  #calls = 0;
  #numbers = 1;
  #memory: Memory = { held: [], ids: [] };

  constructor(folder: string, seed: number) {
    this.#folder = folder;
    this.#seed = seed;
    this.#random = new Random(seed);
  }

  // One life and its end. Throws `Broken` with what was promised and not kept.
  async run(): Promise<void> {
    const history = join(this.#folder, `history-${this.#life}.jsonl`);
    const startFile = join(this.#folder, "start.json");
    writeFileSync(history, "");
    const start: Start = {
      dir: this.dir,
      folder: this.#folder,
      life: this.#life,
      history,
      seed: this.#seed * 1_000 + this.#life,
      planSeed: this.#seed,
      isFirst: this.#life === 0,
      firstCall: this.#calls,
      firstNumber: this.#numbers,
      groups: this.checker.groups,
      memory: this.#memory,
      steps: this.#steps,
    };
    writeFileSync(startFile, JSON.stringify(start));
    await this.#live(startFile);
    this.#judge(readFileSync(history, "utf8"));
    this.#life++;
  }

  get dir(): string {
    return join(this.#folder, "data");
  }

  get #steps(): StepFiles {
    return { dir: join(this.#folder, "steps"), history: join(this.#folder, "steps.jsonl") };
  }

  // The last life, in this process: nothing is left in the end. Answers how many ticks and
  // flows there were.
  async drain(): ReturnType<typeof drain> {
    const of = [this.#calls, this.#memory, this.#seed, this.#folder] as const;
    const made = await drain(this.dir, this.checker, ...of);
    this.stepTotals = await judgeSteps(this.#steps);
    return made;
  }

  async #live(startFile: string): Promise<void> {
    const child = spawn(process.execPath, [CHILD, startFile], {
      stdio: ["ignore", "pipe", "pipe"],
      // A start takes a third of the time when Node remembers what it compiled.
      env: { ...process.env, NODE_COMPILE_CACHE: join(this.#folder, "compiled") },
    });
    let errors = "";
    child.stderr.on("data", (text) => {
      errors += text;
    });
    const opened = new Promise((resolve) => child.stdout.once("data", resolve));
    const gone = new Promise<NodeJS.Signals | null>((resolve) => {
      child.once("exit", (_code, signal) => resolve(signal));
    });
    // Some die while they open.
    const isEarly = this.#life > 0 && this.#random.chance(0.15);
    const first = isEarly ? undefined : await Promise.race([opened, gone, hang()]);
    if (first !== "hang")
      await setTimeout(this.#random.below(isEarly ? EARLY_MS_MAX : LIFE_MS_MAX));
    child.kill("SIGKILL");
    const signal = await gone;
    if (signal !== "SIGKILL") throw new Broken("the process lives", errors);
    if (first === "hang") throw new Broken("hang", `no opening within ${HANG_MS} ms`);
  }

  #judge(text: string): void {
    const lines = text.split("\n");
    // The last line ends with a newline, or was cut: then its call was never made.
    lines.pop();
    for (const line of lines) {
      const record: HistoryRecord = JSON.parse(line);
      this.#remember(record);
      this.checker.take(record);
    }
    this.checker.take({ is: "end", at: Date.now(), isClean: false });
  }

  #remember(record: HistoryRecord): void {
    if (record.is === "call") {
      this.#calls = record.n + 1;
      if (record.call.call !== "add") return;
      for (const { number } of record.call.jobs) {
        this.#numbers = Math.max(this.#numbers, (number % 1_000_000_000) + 1);
      }
    }
    if (record.is !== "delivery") return;
    const { held, ids } = this.#memory;
    held.push(...record.jobs);
    ids.push(...record.jobs.map(({ id }) => id));
    this.#memory = { held: held.slice(-HELD_MAX), ids: ids.slice(-IDS_MAX) };
  }
}

/** A pause of the whole run (Ctrl-Z, a machine that sleeps) passes one look, and is no hang. */
async function hang(): Promise<"hang"> {
  for (let ms = 0; ms < HANG_MS; ms += LOOK_MS)
    await setTimeout(LOOK_MS, undefined, { ref: false });
  return "hang";
}
