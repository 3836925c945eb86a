// The memory of this process when nothing is left to collect. Needs --expose-gc.

export function settledMemory(): NodeJS.MemoryUsage {
  if (globalThis.gc === undefined) throw new Error("memory is measured under --expose-gc");
  for (let i = 0; i < 4; i++) globalThis.gc();
  return process.memoryUsage();
}
