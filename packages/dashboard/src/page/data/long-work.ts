/** Work on many things, a piece at a time, so that one sees how far it is and can stop it. */

import { JOBS_AT_ONCE, REDRIVE_AT_ONCE } from "../limits.ts";
import { at, call, get } from "./api.ts";

export interface Progress {
  done: number;
  total: number;
}

export type Tell = (progress: Progress) => void;

/** Puts dead jobs back; `total` is about how many there are. */
export async function redrive(
  queue: string,
  total: number,
  tell: Tell,
  signal: AbortSignal,
): Promise<number> {
  let done = 0;
  for (;;) {
    tell({ done, total: Math.max(total, done) });
    const count = Math.min(REDRIVE_AT_ONCE, Math.max(1, total - done));
    const { redriven } = await call<{ redriven: number }>(
      "POST",
      at(["queues", queue, "redrive"]),
      {
        body: { count },
        signal,
      },
    );
    done += redriven;
    if (redriven < count || done >= total) break;
  }
  tell({ done, total: done });
  return done;
}

export interface Tally {
  done: number;
  failed: { id: string; message: string }[];
}

/** Does something to each of some jobs; one that is refused does not stop the others. */
export async function eachJob(
  ids: readonly string[],
  work: (id: string) => Promise<unknown>,
  tell: Tell,
  signal: AbortSignal,
): Promise<Tally> {
  const tally: Tally = { done: 0, failed: [] };
  const left = [...ids];
  let looked = 0;
  const worker = async (): Promise<void> => {
    for (let id = left.shift(); id !== undefined && !signal.aborted; id = left.shift()) {
      try {
        await work(id);
        tally.done++;
      } catch (error) {
        tally.failed.push({ id, message: error instanceof Error ? error.message : String(error) });
      }
      tell({ done: ++looked, total: ids.length });
    }
  };
  tell({ done: 0, total: ids.length });
  await Promise.all(Array.from({ length: JOBS_AT_ONCE }, worker));
  return tally;
}

const LOOK_EVERY_MS = 400;

/** Purges a queue, and looks meanwhile how much is left. */
export async function purge(queue: string, tell: Tell, signal: AbortSignal): Promise<number> {
  const left = async (): Promise<number> => {
    const { stats } = await get<{ stats: { waiting: number; delayed: number } }>(
      at(["queues", queue]),
      signal,
    );
    return stats.waiting + stats.delayed;
  };
  const total = await left();
  tell({ done: 0, total });
  const timer = setInterval(() => {
    left().then(
      (now) => tell({ done: Math.max(0, total - now), total }),
      () => undefined,
    );
  }, LOOK_EVERY_MS);
  try {
    await call("POST", at(["queues", queue, "purge"]), { signal });
  } finally {
    clearInterval(timer);
  }
  tell({ done: total, total });
  return total;
}
