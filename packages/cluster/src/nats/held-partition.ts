/**
 * A partition that no node opens while its log is replaced. The mark is in the entry of its owner:
 * who has it lets go, and no other node claims it. It outlives the command that set it, so a
 * replacement that was interrupted is never served; the same command, run again, completes it.
 */
import { SluiceError } from "@sluice/protocol";
import { ANCHOR_PREFIX, OWNER_PREFIX, type OwnerEntry, parseOwnerEntry } from "../node/entries.ts";
import type { Registry } from "../registry/registry.ts";
import { isConflict } from "../within.ts";

const NOBODY = { node: "", incarnation: "", address: "" };
/** Owners write their entries seldom: a few tries are plenty. */
const TRIES_MAX = 20;

export function holdPartition(registry: Registry, partition: number, held: string): Promise<void> {
  return change(registry, partition, (before) => ({
    ...{ ...NOBODY, epoch: (before?.epoch ?? 0) + 1, from: before?.node ?? "" },
    ...{ isHandedOver: false, hasLog: true, held },
  }));
}

/** Its log is another one: what owners have noted of the former says nothing of it. */
export async function releasePartition(registry: Registry, partition: number): Promise<void> {
  const anchor = await registry.get(ANCHOR_PREFIX + partition);
  if (anchor !== undefined) await registry.delete(ANCHOR_PREFIX + partition, anchor.revision);
  await change(registry, partition, (before) => ({
    ...{ ...NOBODY, epoch: (before?.epoch ?? 0) + 1, from: before?.from ?? "" },
    ...{ isHandedOver: false, hasLog: true },
  }));
}

async function change(
  registry: Registry,
  partition: number,
  next: (before: OwnerEntry | undefined) => OwnerEntry,
): Promise<void> {
  const key = OWNER_PREFIX + partition;
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const found = await registry.get(key);
    const text = JSON.stringify(next(parseOwnerEntry(found?.value)));
    try {
      if (found === undefined) await registry.create(key, text);
      else await registry.update(key, text, found.revision);
      return;
    } catch (error) {
      if (!isConflict(error)) throw error;
    }
  }
  const message = `the owner of partition ${partition} keeps changing; try again`;
  throw new SluiceError("CONFLICT", message, { partition });
}
