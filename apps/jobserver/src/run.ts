/** Runs a job within its time; when that is over its signal aborts, and the job has timed out. */
import { type Handler, Unrecoverable } from "sluice";
import type { JobHandler, JobHandlers } from "./handlers/handler.ts";
import type { HandlerPool } from "./runners/pool.ts";
import type { Submission } from "./submission.ts";

/** The error's name distinguishes a job that ran out of time from one that failed. */
export const TIMEOUT_NAME = "JobTimeout";

class JobTimeout extends Unrecoverable {
  override readonly name = TIMEOUT_NAME;
}

export function timeoutError({ timeoutMs }: { readonly timeoutMs: number }): Error {
  return new JobTimeout(`took longer than ${timeoutMs / 1000} s`);
}

/** What runs jobs: functions in the server's own thread, and a module's handlers in a pool. */
export interface Runners {
  readonly functions: JobHandlers;
  readonly pool?: HandlerPool | undefined;
}

export function typesOf({ functions, pool }: Runners): ReadonlySet<string> {
  return new Set([...Object.keys(functions), ...(pool?.types ?? [])]);
}

/** `uidOf`: the name under which submitters know a job. */
export function handlerFor(
  { functions, pool }: Runners,
  uidOf: (id: string) => string,
): Handler<Submission, unknown> {
  const apart = new Set(pool?.types);
  return ({ id, payload }, { signal, progress }) => {
    const { type, workerId, timeoutMs } = payload;
    const context = { uid: uidOf(id), workerId, progress, signal };
    if (pool !== undefined && apart.has(type)) {
      return pool.run({ type, args: payload.arguments, timeoutMs, ...context });
    }
    // It was there when the job was submitted; a restart may have brought other handlers.
    const handler = Object.hasOwn(functions, type) ? functions[type] : undefined;
    if (handler === undefined) throw new Unrecoverable(`no handler for jobs of type ${type}`);
    return runHere(handler, payload, context);
  };
}

/** A handler that ignores its signal continues, but its job is over and its place is free. */
async function runHere(
  handler: JobHandler,
  payload: Submission,
  context: Parameters<JobHandler>[1],
): Promise<unknown> {
  const limit = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const timeout = timeoutError(payload);
      limit.abort(timeout);
      reject(timeout);
    }, payload.timeoutMs);
  });
  try {
    const signal = AbortSignal.any([context.signal, limit.signal]);
    const run = async (): Promise<unknown> => handler(payload.arguments, { ...context, signal });
    return (await Promise.race([run(), over])) ?? null;
  } finally {
    clearTimeout(timer);
  }
}
