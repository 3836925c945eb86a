// Jobs in steps, in the process that is killed: the whole library on data of its own. Each step
// writes down that it runs, and that its result was answered, in one file for all lives.

import { openSync, readFileSync, writeSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { type HandlerContext, Sluice, type WorkJob } from "sluice";
import { Broken } from "../demand.ts";

const STEPS = 4;
const OPEN_MAX = 100;
const ADDS = 5;

export interface StepFiles {
  readonly dir: string;
  readonly history: string;
}

type Line = { is: "added" | "ran" | "recorded"; key: string };

interface Opened {
  readonly sluice: Sluice;
  readonly write: (line: Line) => void;
  readonly running: () => number;
}

// Adds jobs and works on them until the process is killed.
export async function loadSteps(files: StepFiles): Promise<void> {
  const { sluice, write, running } = await open(files);
  const queue = await sluice.queue<number, number>("steps");
  for (;;) {
    if (running() < OPEN_MAX) {
      const items = Array.from({ length: ADDS }, (_, payload) => ({ payload }));
      for (const job of await queue.addBulk(items)) {
        if (job instanceof Error) throw job;
        write({ is: "added", key: job.id });
        await job.signal("go", job.id);
      }
    }
    await setTimeout(2);
  }
}

async function open({ dir, history }: StepFiles): Promise<Opened> {
  const file = openSync(history, "a");
  const write = (line: Line): void => void writeSync(file, `${JSON.stringify(line)}\n`);
  const sluice = await Sluice.open({ dir });
  await sluice.gate("places").set({ concurrency: 3 });
  const queue = await sluice.queue<number, number>("steps", {
    retry: { attempts: 1000, min: 1, max: 5, deliveries: 100_000 },
    results: { jobs: 1_000_000, ttl: "1d" },
  });
  const worker = queue.work((job, context) => inSteps(job, context, write), { concurrency: 20 });
  return { sluice, write, running: () => worker.running };
}

async function inSteps(
  { id, payload }: WorkJob<number>,
  { step }: HandlerContext,
  write: (line: Line) => void,
): Promise<number> {
  let sum = payload;
  for (let n = 0; n < STEPS; n++) {
    const key = `${id} s${n}`;
    const run = (): number => {
      write({ is: "ran", key });
      return sum + 1;
    };
    sum = await step.run(`s${n}`, run, n % 2 === 1 ? { gates: ["places"] } : {});
    write({ is: "recorded", key });
    if (n === 1) await step.sleep(1);
  }
  // A signal may be lost with the life that was to send it: that was not confirmed.
  await step.waitFor("go", { timeout: 50 });
  return sum;
}

// All is healthy again: every job that was added ends, and no recorded step ran a second time.
export async function judgeSteps(files: StepFiles): Promise<{ steps: number; jobs: number }> {
  const { sluice } = await open(files);
  const lines = (): Line[] => {
    const text = readFileSync(files.history, "utf8").split("\n");
    // The last line ends with a newline, or was cut.
    text.pop();
    return text.map((line) => JSON.parse(line) as Line);
  };
  const added = lines().filter(({ is }) => is === "added");
  for (const { key } of added) {
    const sum = await sluice.job<number, number>(key).finished({ timeout: "60s" });
    if (sum < STEPS) throw new Broken("no recorded step lost", `${key} ended with ${sum}`);
  }
  await sluice.close();
  const recorded = new Set<string>();
  for (const { is, key } of lines()) {
    if (is === "recorded") recorded.add(key);
    else if (is === "ran" && recorded.has(key)) {
      throw new Broken("no recorded step runs again", key);
    }
  }
  return { steps: recorded.size, jobs: added.length };
}
