import { SluiceError } from "@sluice/protocol";
import type { RequestBucket } from "../request-bucket.ts";
import { EVERYTHING, type Grant } from "./grant.ts";

/** The holder of a key, and what it may do at this moment. */
export interface Principal {
  /** The key's id, for logs. */
  readonly id: string;
  /** Asked on every call: refuses with UNAUTHORIZED once the key is revoked or has expired. */
  grants(): readonly Grant[];
  /** Counts one request; refuses with RATE_LIMITED when there were too many. */
  charge(): void;
  /**
   * Calls back when the grants may have changed or ended; the answer ends that. Absent: they never
   * change.
   */
  watch?(look: () => void): () => void;
}

/** Every caller of a server without keys. */
export const ANYONE: Principal = { id: "anyone", grants: () => EVERYTHING, charge: () => {} };

export function unauthorized(message: string): SluiceError {
  return new SluiceError("UNAUTHORIZED", message);
}

export function chargeBucket(bucket: RequestBucket | undefined): void {
  const retryAfterMs = bucket?.take(1) ?? 0;
  if (retryAfterMs === 0) return;
  throw new SluiceError("RATE_LIMITED", "this key has made too many requests", { retryAfterMs });
}
