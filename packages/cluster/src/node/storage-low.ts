import { SluiceError } from "@sluice/protocol";
import { STORAGE_LOW_SHARE, STORAGE_RETRY_MS } from "../limits.ts";

/** The refusal of adds when so much of the storage is used; undefined while there is room. */
export function storageLow(share = 0): SluiceError | undefined {
  if (share < STORAGE_LOW_SHARE) return undefined;
  const percent = Math.floor(share * 100);
  const message =
    `JetStream storage is ${percent} % full: adds are refused until jobs are finished or ` +
    "the storage is made larger";
  return new SluiceError("STORAGE_LOW", message, { percent, retryAfterMs: STORAGE_RETRY_MS });
}
