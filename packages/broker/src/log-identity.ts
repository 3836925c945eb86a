import { createHash } from "node:crypto";

/**
 * The name of a log, random and for good: two logs that give out the same job ids have different
 * ones. It is made from the secret that the log has anyway, and does not reveal it.
 */
export function logIdentity(leaseSecret: Uint8Array): string {
  const hash = createHash("sha256").update("the identity of a log\0").update(leaseSecret);
  return hash.digest("base64url").slice(0, IDENTITY_CHARS);
}

/** 132 bits. */
const IDENTITY_CHARS = 22;
