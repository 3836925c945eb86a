/** What an add says, made ready for the port: checked by the schema, filled in by the policy. */
import { type JobOptions, readJob } from "@sluice/protocol";
import { OutgoingJob } from "./outgoing-job.ts";
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
