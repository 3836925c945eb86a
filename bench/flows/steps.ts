// Jobs in ten steps beside plain jobs, in turns, on a disk: each result is in the log before its
// step resolves, as each plain job is before its add is answered and after its ack.

import { type Queue, Sluice } from "sluice";
import type { Figure, Group, Scale } from "../figure.ts";
import { Scratch } from "../scratch.ts";
import { figureOf } from "../spread.ts";

const JOBS = 1_000;
const STEPS = 10;
const ROUNDS = 5;
const CONCURRENCY = 1_000;

export const steps: Group = { name: "steps", run: measure };

async function measure(scale: Scale): Promise<Figure[]> {
  using scratch = new Scratch();
  const jobs = scale.size(JOBS);
  const plain: number[] = [];
  const stepped: number[] = [];
  await using sluice = await Sluice.open({ dir: scratch.fresh() });
  const one = await sluice.queue<number, number>("plain");
  const many = await sluice.queue<number, number>("steps");
  one.work(({ payload }) => payload + 1, { concurrency: CONCURRENCY });
  many.work(
    async ({ payload }, { step }) => {
      let sum = payload;
      for (let n = 0; n < STEPS; n++) sum = await step.run(`s${n}`, () => sum + 1);
      return sum;
    },
    { concurrency: CONCURRENCY },
  );
  for (let round = 0; round < ROUNDS + 1; round++) {
    const plainRate = await rateOf(one, jobs * STEPS, 1);
    const stepRate = await rateOf(many, jobs, STEPS);
    // The first round warms up.
    if (round === 0) continue;
    plain.push(plainRate);
    stepped.push(stepRate);
  }
  const ratios = stepped.map((rate, i) => rate / plain[i]!);
  const conditions = { jobs, steps: STEPS, concurrency: CONCURRENCY, durability: "fsync" };
  const where = { ...conditions, disk: scratch.disk, inProcess: true };
  return [
    figureOf("steps, each result on disk", "steps/s", stepped, where),
    figureOf("plain jobs beside them", "jobs/s", plain, where),
    figureOf("steps against plain jobs", "×", ratios, where),
  ];
}

type Numbers = Queue<number, number>;

/** What goes through in a second, from the first add to the last end. */
async function rateOf(queue: Numbers, jobs: number, per: number): Promise<number> {
  const from = performance.now();
  const items = Array.from({ length: jobs }, (_, payload) => ({ payload }));
  const before = (await queue.stats()).finished;
  const ended = new Promise<void>((resolve) => {
    let left = jobs;
    queue.on("finished", function count() {
      if (--left > 0) return;
      queue.off("finished", count);
      resolve();
    });
  });
  await queue.addBulk(items);
  await ended;
  const seconds = (performance.now() - from) / 1000;
  const { finished } = await queue.stats();
  if (finished - before !== jobs) throw new Error(`${finished - before} of ${jobs} jobs`);
  return (jobs * per) / seconds;
}
