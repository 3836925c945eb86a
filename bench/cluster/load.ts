// What the processes of one measurement share.

export const PAYLOAD_BYTES = 512;
export const BATCH_JOBS = 1000;
export const BULKS_IN_FLIGHT = 12;
export const SINGLES_IN_FLIGHT = 1000;
export const LANES = 64;

export const QUEUE = {
  codec: "bytes",
  capacity: { jobs: 100_000_000, bytes: 1e12 },
  lease: "1h",
} as const;

// Nothing was delivered that was not added, or twice; nothing is missing.
export function expectSame(added: readonly string[], delivered: readonly string[]): void {
  const missing = new Set(added);
  if (missing.size !== added.length) throw new Error("two jobs have the same id");
  for (const id of delivered) {
    if (!missing.delete(id)) throw new Error(`${id} was delivered and not added, or twice`);
  }
  if (missing.size > 0) throw new Error(`${missing.size} jobs were not delivered`);
}
