/** A job on its way to the port. */
import type { FairnessKey, JobOptions, NewJob, RetryPolicy } from "@sluice/protocol";

/** An item of `addBulk`: the payload among its options. */
export interface BulkItem<Payload> extends JobOptions {
  payload: Payload;
}

const NOTHING = new Uint8Array(0);

/** Always the same shape, so that what reads it stays fast. */
export class OutgoingJob implements NewJob {
  payload: Uint8Array = NOTHING;
  fairnessKey: FairnessKey | undefined = undefined;
  weight: number | undefined = undefined;
  priority: number | string | undefined = undefined;
  gates: readonly string[] | undefined = undefined;
  cost: number | undefined = undefined;
  delayMs: number | undefined = undefined;
  runAt: number | undefined = undefined;
  ttlMs: number | undefined = undefined;
  deadline: number | undefined = undefined;
  maxWaitMs: number | undefined = undefined;
  dedupe: NewJob["dedupe"] = undefined;
  group: string | undefined = undefined;
  headers: Readonly<Record<string, string>> | undefined = undefined;
  attempts: number | undefined = undefined;
  backoff: Partial<RetryPolicy> | undefined = undefined;
  leaseMs: number | undefined = undefined;
}
