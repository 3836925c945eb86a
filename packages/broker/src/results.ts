/** Results of ended jobs: in memory, or a body in the log when other jobs wait for the job. */
import type { Chunks } from "./chunks.ts";
import type { Body } from "./codec/body.ts";

/** Adds the result, read from the log if need be, to the description of a job. */
export async function withResult<T extends { result?: Uint8Array }>(
  of: T,
  result: unknown,
  chunks: Chunks,
): Promise<T> {
  if (result === undefined) return of;
  if (result instanceof Uint8Array) return { ...of, result };
  // One that is not written yet is as the call brought it.
  const { payload } = typeof result === "number" ? await chunks.read(result) : (result as Body);
  return { ...of, result: payload };
}
