import type { FairnessKey } from "@sluice/protocol";

/** A job as its handler sees it. */
export interface WorkJob<Payload> {
  readonly id: string;
  readonly queue: string;
  readonly payload: Payload;
  readonly headers: Readonly<Record<string, string>>;
  /** 0 on the first delivery. */
  readonly attempt: number;
  /** Deliveries in all that it has. */
  readonly attempts: number;
  readonly tier: number;
  readonly fairnessKey: FairnessKey;
  readonly addedAt: number;
}
