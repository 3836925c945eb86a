/** A list of preferred submitters as it comes from outside: taken whole or not at all. */
import { LIST_WORKERS_MAX, WORKER_ID_BYTES_MAX } from "./limits.ts";
import type { Preferred } from "./submitters.ts";

export class BadList extends Error {
  override readonly name = "BadList";
}

export function parseList(bytes: Uint8Array, tiers: readonly string[]): Preferred[] {
  const { workers } = (parseJson(bytes) ?? {}) as { workers?: unknown };
  if (!Array.isArray(workers)) throw new BadList(`it has no array "workers"`);
  if (workers.length > LIST_WORKERS_MAX) {
    throw new BadList(`it has ${workers.length} workers, at most ${LIST_WORKERS_MAX} are taken`);
  }
  return workers.map((worker, index) => parseWorker(worker, index, tiers));
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new BadList("it is not JSON");
  }
}

function parseWorker(worker: unknown, index: number, tiers: readonly string[]): Preferred {
  if (typeof worker === "string") return { id: parseId(worker, index) };
  if (typeof worker !== "object" || worker === null) {
    throw new BadList(`workers[${index}] is neither a string nor { id, tier }`);
  }
  const { id, tier } = worker as { id?: unknown; tier?: unknown };
  if (tier !== undefined && !tiers.includes(tier as string)) {
    const known = tiers.join(", ");
    throw new BadList(
      `workers[${index}].tier must be one of ${known}, got ${JSON.stringify(tier)}`,
    );
  }
  return { id: parseId(id, index), ...(tier === undefined ? {} : { tier: tier as string }) };
}

function parseId(id: unknown, index: number): string {
  if (typeof id !== "string" || id === "" || Buffer.byteLength(id) > WORKER_ID_BYTES_MAX) {
    throw new BadList(`workers[${index}] has no id of 1 to ${WORKER_ID_BYTES_MAX} bytes`);
  }
  return id;
}
