import { SluiceError } from "@sluice/protocol";
import { ROOT_KEY_CHARS_MIN } from "../limits.ts";
import type { RequestBucket } from "../request-bucket.ts";
import { EVERYTHING, type Grant } from "./grant.ts";
import { opens, type Sealed, seal } from "./secret.ts";

/** The holder of a key, and what it may do at this moment. */
export interface Principal {
  /** The key's id, for logs. */
  readonly id: string;
  /** The name of the key, for people. */
  readonly name?: string;
  /** Requests that would change something are refused, whatever the grants say. */
  readonly isReadOnly?: boolean;
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
  throw new SluiceError(
    "RATE_LIMITED",
    "this API key exceeds its requests per second; try again later",
    { retryAfterMs },
  );
}

/** Keys that the operator brings along: each opens everything. */
export class FixedKeys {
  readonly #sealed: readonly Sealed[];

  /** `charsMin`: less for keys of old that others have to be able to use. */
  constructor(keys: readonly string[], charsMin = ROOT_KEY_CHARS_MIN) {
    for (const [i, key] of keys.entries()) {
      if (typeof key === "string" && key.length >= charsMin) continue;
      const message = `keys[${i}] must be a text of at least ${charsMin} characters`;
      throw new SluiceError("INVALID", message, { field: `keys[${i}]` });
    }
    this.#sealed = keys.map(seal);
  }

  /** Whether this is one of them. All are compared, so that the time taken tells nothing. */
  has(key: string | undefined): boolean {
    return this.#sealed.reduce((found, sealed) => opens(sealed, key ?? "") || found, false);
  }

  verify(key: string | undefined): Principal {
    if (key === undefined)
      throw unauthorized("this server needs an API key: send it as `Authorization: Bearer KEY`");
    if (!this.has(key))
      throw unauthorized("the API key is not valid: it is misspelt or was revoked");
    return { id: "operator", grants: () => EVERYTHING, charge: () => {} };
  }
}
