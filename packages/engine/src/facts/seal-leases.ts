import type { Core } from "../core.ts";
import { RESTORED_SKIP } from "../limits.ts";

/**
 * Seals leases with this secret from now on. If the engine was rebuilt from an older copy of its
 * facts, others have seen facts emitted after that copy. So no id, life or lot is given a second
 * time, and no lease of that time is known.
 */
export function sealLeases(core: Core, secret: Uint8Array, now: number, isRestored: boolean): void {
  const at = core.clock(now);
  core.leaseSecret = secret;
  core.tell({ at, fact: "lease-secret", secret });
  if (!isRestored) return;
  core.lastId += RESTORED_SKIP;
  core.lastLot += RESTORED_SKIP;
  core.life += RESTORED_SKIP;
}
