/** What `Sluice.open` is told, and the log that it leads to. */
import type { Duration } from "@sluice/client";
import { FileLog, type Log, MemoryLog } from "@sluice/log";
import { type Clock, invalid, SluiceError } from "@sluice/protocol";

/** `fsync` survives a power loss, `os` the end of the process, `memory` neither. */
export type Durability = "fsync" | "os" | "memory";

export interface OpenOptions {
  /** Where the data lies; made when it does not exist. Not needed with `durability: "memory"`. */
  dir?: string | undefined;
  /** Default `fsync`. */
  durability?: Durability | undefined;
  /** A test passes a `FakeClock`. */
  clock?: Clock | undefined;
  /** The largest payload. Default 1 MiB, at most 16 MiB. */
  payloadBytesMax?: number | undefined;
  /** Memory for payloads; those beyond it are read back from the log. Default 256 MiB. */
  payloadMemoryBytes?: number | undefined;
  /** Facts that may be written before the log has them; then adds wait. Default 32 MiB. */
  unsyncedBytesMax?: number | undefined;
  /** Queues that may be made; each takes about 10 kB of memory. Default 10,000. */
  queuesMax?: number | undefined;
  /** What the log may hold beyond twice what lives in it. Default 64 MiB. */
  segmentBytes?: number | undefined;
  /** The longest cooldown of a gate that a failure can ask for; longer ones are cut. Default 1h. */
  cooldownMax?: Duration | undefined;
  /** Varies the jitter of retries. */
  seed?: number | undefined;
}

const KNOWN = [
  "dir",
  "durability",
  "clock",
  "payloadBytesMax",
  "payloadMemoryBytes",
  "unsyncedBytesMax",
  "queuesMax",
  "segmentBytes",
  "cooldownMax",
  "seed",
] as const satisfies readonly (keyof OpenOptions)[];

const BYTES = [
  "payloadBytesMax",
  "payloadMemoryBytes",
  "unsyncedBytesMax",
  "segmentBytes",
] as const satisfies readonly (keyof OpenOptions)[];

export function checkOptions(options: OpenOptions): void {
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw invalid("open", `an object with ${KNOWN.join(", ")}`, options);
  }
  for (const [name, value] of Object.entries(options)) {
    if ((KNOWN as readonly string[]).includes(name)) continue;
    const message = `open.${name} is not a known field; known are ${KNOWN.join(", ")}`;
    throw new SluiceError("INVALID", message, { field: `open.${name}`, value: String(value) });
  }
  const { dir, durability = "fsync", clock, seed } = options;
  if (clock !== undefined && !isClock(clock)) {
    throw invalid("open.clock", "a Clock, with the functions now and at", clock);
  }
  if (seed !== undefined && !Number.isSafeInteger(seed)) {
    throw invalid("open.seed", "an integer", seed);
  }
  for (const name of BYTES) {
    const bytes = options[name];
    if (bytes === undefined || (Number.isSafeInteger(bytes) && bytes > 0)) continue;
    throw invalid(`open.${name}`, "a number of bytes of at least 1", bytes);
  }
  if (durability !== "fsync" && durability !== "os" && durability !== "memory") {
    throw invalid("open.durability", '"fsync", "os" or "memory"', durability);
  }
  if (durability === "memory") {
    if (dir !== undefined) throw invalid("open.dir", 'absent with durability: "memory"', dir);
  } else if (typeof dir !== "string" || dir === "") {
    throw invalid("open.dir", 'the path of a directory, unless durability is "memory"', dir);
  }
}

export async function openLog({ dir, durability = "fsync" }: OpenOptions): Promise<Log> {
  if (durability === "memory") return new MemoryLog();
  return FileLog.open({ dir: dir as string, durability });
}

function isClock(value: unknown): value is Clock {
  const { now, at } = (value ?? {}) as Partial<Clock>;
  return typeof now === "function" && typeof at === "function";
}
