// Finishes jobs of a cluster from a process of its own.

import { type Queue, Sluice } from "sluice";
import { answer } from "../answer.ts";
import { BATCH_JOBS, BULKS_IN_FLIGHT, QUEUE } from "./load.ts";

// No batch waits for the worker.
const CONCURRENCY = BULKS_IN_FLIGHT * BATCH_JOBS;

interface ConsumerOptions {
  // Results that are kept for a look at the history.
  readonly results?: number;
  readonly concurrency?: number;
}
const LOOKS_IN_FLIGHT = 100;

let sluice: Sluice;
const ids: string[] = [];
let left = 0;
let run = Promise.withResolvers<void>();

function work(queue: Queue<Uint8Array>, concurrency: number): void {
  const worker = queue.work(({ id }) => void ids.push(id), { concurrency });
  worker.on("finished", () => {
    if (--left === 0) run.resolve();
  });
  for (const name of ["failed", "error", "lease-lost"] as const) {
    worker.on(name, ({ error }) => run.reject(error));
  }
}

answer({
  async open(urls: string | string[], names: readonly string[], options: ConsumerOptions = {}) {
    const { results, concurrency = CONCURRENCY } = options;
    await sluice?.close();
    sluice = await Sluice.connect(urls, { client: "consumer" });
    const more = results === undefined ? {} : { results: { jobs: results, ttl: "1h" } as const };
    for (const name of names) {
      work(await sluice.queue<Uint8Array>(name, { ...QUEUE, ...more }), concurrency);
    }
  },

  // Answers when this many more jobs are finished for good.
  async finish(jobs: number) {
    left = jobs;
    run = Promise.withResolvers();
    await run.promise;
  },

  // Of all that was handled since the last question.
  ids: () => ids.splice(0),

  // When each of these jobs went out, by the clock of the node that sent it.
  async dispatchedAt(of: readonly string[]) {
    const times: number[] = [];
    let next = 0;
    const look = async (): Promise<void> => {
      while (next < of.length) {
        const entries = await sluice.job(of[next++]!).history();
        for (const { event, at } of entries) if (event === "dispatched") times.push(at);
      }
    };
    await Promise.all(Array.from({ length: LOOKS_IN_FLIGHT }, look));
    return times;
  },
});
