// A pool of threads or processes with handlers that harm the place they run in.

import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { timeoutError } from "../run.ts";
import { HandlerPool, type NewRun, type PoolOptions } from "../runners/pool.ts";

const MODULE = fileURLToPath(new URL("harmful-handlers.ts", import.meta.url));
export const QUIET = { debug() {}, info() {}, warn() {}, error() {} };

export type OpenPool = HandlerPool;

export async function openPool(
  t: TestContext,
  options: Partial<PoolOptions> = {},
): Promise<HandlerPool> {
  const pool = await HandlerPool.open({
    module: MODULE,
    kind: "thread",
    max: 2,
    heapMib: 128,
    nice: 0,
    timeoutError,
    log: QUIET,
    ...options,
  });
  t.after(() => pool.close());
  return pool;
}

export function runIn(
  pool: HandlerPool,
  type: string,
  more: Partial<NewRun> = {},
): Promise<unknown> {
  return pool.run({
    type,
    args: undefined,
    uid: "u1",
    workerId: undefined,
    timeoutMs: 60_000,
    signal: new AbortController().signal,
    progress: async () => {},
    ...more,
  });
}
