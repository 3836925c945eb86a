/** Rights on stores: as on a queue of the same name, but for those of the server itself. */
import { type Right, SluiceError } from "@sluice/protocol";
import type { Permit } from "./permit.ts";

/** Stores of the server itself: out of reach of the store calls that the network can make. */
const RESERVED = "sluice:";

export const KEYS_STORE = `${RESERVED}keys`;

/** What policies read. All keys may read it, and only `admin` on everything may write it. */
export const CONFIG_STORE = "config";

export function enterStore(permit: Permit, may: Right, store: string): void {
  if (String(store).startsWith(RESERVED)) {
    const details = { field: "store", value: store };
    throw new SluiceError("FORBIDDEN", `store ${store} belongs to the server`, details);
  }
  if (may === "any") return store === CONFIG_STORE ? permit.enterValid() : permit.enterAny(store);
  return store === CONFIG_STORE ? permit.enterAll("admin") : permit.enter("produce", store);
}
