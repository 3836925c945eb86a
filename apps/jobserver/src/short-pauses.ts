import { setFlagsFromString } from "node:v8";

const THREAD_MIB = 8;

/**
 * Keeps the young generation of this thread's heap at its first size, 1 or 2 MiB. V8 lets it grow
 * to 64 MiB: then a collection copies what 1,500 jobs in flight hold, and stops the thread that
 * answers for 11 ms, or for 30 when handlers use the other cores. Small ones take 1 ms each, and
 * in all less processor time.
 *
 * V8 reads the first flag only when a young generation is about to grow, so it may be set late. It
 * holds for the whole process: that is why the command sets it and the library does not, and why
 * threads of handlers, which may allocate a lot, begin with more.
 */
export function keepPausesShort(): void {
  if (isSetByOperator()) return;
  setFlagsFromString("--semi-space-growth-factor=1");
  setFlagsFromString(`--min-semi-space-size=${THREAD_MIB}`);
}

function isSetByOperator(): boolean {
  const given = [...process.execArgv, process.env.NODE_OPTIONS ?? ""];
  return given.some((text) => /semi[-_]space/.test(text));
}
