import type { FairnessKey } from "@sluice/protocol";

/** A job as its handler sees it. */
export interface WorkJob<Payload> {
  readonly id: string;
  readonly queue: string;
  readonly payload: Payload;
  readonly headers: Readonly<Record<string, string>>;
  /** 0 on the first delivery. */
  readonly attempt: number;
  /** Failures that it may have: the last one is final. */
  readonly attempts: number;
  /** How often it was handed out, this time included, also when that cost no attempt. */
  readonly deliveries: number;
  readonly tier: number;
  readonly fairnessKey: FairnessKey;
  readonly addedAt: number;
}
