// A run of many seeds, spread over threads. Each thread is the same program with a part of the
// seeds; the first one waits for the others and adds up what they count.

import { availableParallelism } from "node:os";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { type Counts, sum } from "./world-end.ts";

// With more than three cores, one is left for everything else.
const THREADS_MAX = Math.max(2, availableParallelism() - 1);

export interface Seeds {
  readonly first: number;
  readonly count: number;
}

// Runs `part` for every seed of this thread and answers the sums over all threads; in a thread that
// was started by this function it answers nothing.
export async function inThreads(
  program: string,
  { first, count }: Seeds,
  part: (seeds: Iterable<number>) => Promise<Counts>,
): Promise<Counts | undefined> {
  const threads = Math.min(THREADS_MAX, count);
  if (!isMainThread) {
    const { thread } = workerData as { thread: number };
    parentPort!.postMessage(await part(every(threads, first + thread, first + count)));
    return undefined;
  }
  const others = Array.from({ length: threads - 1 }, (_, i) => run(program, i + 1));
  const own = await part(every(threads, first, first + count));
  return (await Promise.all(others)).reduce(sum, own);
}

function* every(step: number, from: number, to: number): Generator<number> {
  for (let seed = from; seed < to; seed += step) yield seed;
}

function run(program: string, thread: number): Promise<Counts> {
  const worker = new Worker(new URL(program), {
    workerData: { thread },
    argv: process.argv.slice(2),
  });
  return new Promise((resolve, reject) => {
    worker.once("message", resolve);
    worker.once("error", reject);
  });
}
