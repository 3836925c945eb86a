/** What an add says, made ready for the port: checked by the schema, filled in by the policy. */
import {
  type FairnessKey,
  type JobOptions,
  type NewJob,
  type RetryPolicy,
  readJob,
} from "@sluice/protocol";
import { encodePayload } from "./payload.ts";
import { applyPolicy } from "./policy.ts";
import type { LocalOptions } from "./queue-options.ts";
import { validate } from "./schema.ts";

/** A promise only when the schema is one that waits. */
export function prepare(
  local: LocalOptions,
  payload: unknown,
  options: JobOptions | undefined,
): OutgoingJob | Promise<OutgoingJob> {
  if (local.schema === undefined) return build(local, payload, options);
  const valid = validate(local.schema, payload);
  if (!(valid instanceof Promise)) return build(local, valid, options);
  return valid.then((value) => build(local, value, options));
}

function build(
  { codec, policy }: LocalOptions,
  payload: unknown,
  options: JobOptions | undefined,
): OutgoingJob {
  const job = new OutgoingJob();
  job.payload = encodePayload(codec, payload);
  if (policy !== undefined) readJob(job, applyPolicy(policy, payload, options ?? {}));
  else if (options !== undefined) readJob(job, options);
  return job;
}

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
