/** Runs a job within its time; when that is over its signal aborts, and the job has timed out. */
import { type Handler, Unrecoverable } from "sluice";
import type { JobHandlers } from "./handlers/handler.ts";
import type { Submission } from "./submission.ts";

/** The error's name tells a job that ran out of time from one that failed. */
export const TIMEOUT_NAME = "JobTimeout";

class JobTimeout extends Unrecoverable {
  override readonly name = TIMEOUT_NAME;
}

export function handlerFor(handlers: JobHandlers): Handler<Submission, unknown> {
  return async ({ id, payload }, { signal, progress }) => {
    const { type, workerId, timeoutMs } = payload;
    // It was there when the job was submitted; a restart may have brought other handlers.
    const handler = Object.hasOwn(handlers, type) ? handlers[type] : undefined;
    if (handler === undefined) throw new Unrecoverable(`no handler for jobs of type ${type}`);
    const limit = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    // A handler that ignores its signal continues, but its job is over and its place is free.
    const over = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        const timeout = new JobTimeout(`took longer than ${timeoutMs / 1000} s`);
        limit.abort(timeout);
        reject(timeout);
      }, timeoutMs);
    });
    try {
      const context = {
        uid: id,
        workerId,
        progress,
        signal: AbortSignal.any([signal, limit.signal]),
      };
      const run = async (): Promise<unknown> => handler(payload.arguments, context);
      return (await Promise.race([run(), over])) ?? null;
    } finally {
      clearTimeout(timer);
    }
  };
}
