/** Names that a partition has never given, refused in the words of a broker. */
import { type ErrorJson, SluiceError, shown } from "@sluice/protocol";
import { partitionOf } from "./names.ts";

export function unknownJob(id: unknown): ErrorJson {
  const message = `there is no job ${shown(id)}`;
  return new SluiceError("JOB_NOT_FOUND", message, { field: "id", value: id }).toJSON();
}

/** The lease of a job elsewhere is of a job that is not here; anything else is no lease at all. */
export function unknownLease(lease: unknown): ErrorJson {
  if (partitionOf(lease) >= 0 && String(lease).includes(".")) {
    const message = `there is no job with the lease ${shown(lease)}`;
    const details = { field: "lease", value: lease };
    return new SluiceError("JOB_NOT_FOUND", message, details).toJSON();
  }
  const message = `lease must be the token of a lease, got ${shown(lease)}`;
  return new SluiceError("INVALID", message, { field: "lease", value: lease }).toJSON();
}
