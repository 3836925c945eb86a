// What the producer adds: payloads of 512 bytes for many lanes.

import type { BulkItem, JobOptions } from "sluice";

export const GATE = "api";
export const PAYLOAD_BYTES = 512;

const PAYLOADS = 1000;
// Coprime to the powers of ten that count the lanes, and too long a step to be guessed.
const STRIDE = 618_033_987;

export type Shape = "bytes" | "json";

export interface JobsOptions {
  // One lane: jobs say nothing but their payload.
  readonly lanes: number;
  readonly isGated: boolean;
  readonly shape: Shape;
}

// Jobs of a power of ten of lanes, every lane once a cycle.
export class Jobs {
  readonly #options: readonly JobOptions[];
  readonly #payloads: readonly unknown[];
  #at = 0;
  #lane = 0;

  constructor({ lanes, isGated, shape }: JobsOptions) {
    const gates = isGated ? { gates: [GATE] } : {};
    this.#options = Array.from({ length: lanes }, (_, lane) =>
      lanes === 1 ? gates : { fairnessKey: `t${String(lane).padStart(7, "0")}`, ...gates },
    );
    this.#payloads = Array.from({ length: PAYLOADS }, (_, index) => payloadOf(shape, index));
  }

  batch(count: number): BulkItem<unknown>[] {
    const items: BulkItem<unknown>[] = [];
    for (let i = 0; i < count; i++) items.push(this.#item());
    return items;
  }

  // Spelled out, so that the producer's own work is nearly the same whatever the jobs say.
  #item(): BulkItem<unknown> {
    const { fairnessKey, gates } = this.options();
    const payload = this.payload();
    if (fairnessKey === undefined) return { payload };
    return gates === undefined ? { payload, fairnessKey } : { payload, fairnessKey, gates };
  }

  payload(): unknown {
    this.#at = (this.#at + 1) % PAYLOADS;
    return this.#payloads[this.#at];
  }

  options(): JobOptions {
    this.#lane = (this.#lane + STRIDE) % this.#options.length;
    return this.#options[this.#lane]!;
  }
}

// An object as applications have them, whose JSON has 512 bytes.
function payloadOf(shape: Shape, index: number): unknown {
  if (shape === "bytes") return Buffer.alloc(PAYLOAD_BYTES, index);
  const job = { id: index, to: `user-${index}@example.com`, urgent: index % 2 === 0, text: "" };
  const missing = PAYLOAD_BYTES - JSON.stringify(job).length;
  return { ...job, text: "x".repeat(missing) };
}
