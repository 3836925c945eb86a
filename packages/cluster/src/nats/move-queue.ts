/** Has a queue of a running cluster move to another partition, and waits until it has. */
import { setTimeout } from "node:timers/promises";
import { SluiceError } from "@sluice/protocol";
import { MOVE_LOOK_MS } from "../limits.ts";
import { askToMove } from "../node/ask-to-move.ts";
import { heldAt, type Placement, parsePlacement } from "../node/placement.ts";
import { keyOf, RegistryDirectory } from "../node/registry-directory.ts";
import { type ClusterPlace, withCluster } from "./open-cluster.ts";

export interface MoveOptions extends ClusterPlace {
  readonly queue: string;
  readonly to: number;
  readonly stop?: AbortSignal | undefined;
  /** New jobs go to the partition from now on. */
  readonly onBegun?: (() => void) | undefined;
}

/** One that was stopped continues in the cluster; called again, it waits for it. */
export function moveQueue({ queue, to, stop, onBegun, ...place }: MoveOptions): Promise<void> {
  return withCluster(place, async ({ registry, entry }) => {
    const directory = new RegistryDirectory(registry, entry);
    const found = await registry.get(keyOf(queue));
    if (found !== undefined) {
      directory.hear({ key: keyOf(queue), value: found.value, revision: found.revision });
    }
    let placement: Placement | undefined = await askToMove(directory, queue, to);
    let isBegun = false;
    while (placement?.to === to) {
      if (!isBegun && heldAt(placement) === to) {
        isBegun = true;
        onBegun?.();
      }
      await setTimeout(MOVE_LOOK_MS, undefined, { signal: stop }).catch(() => stopped(queue, to));
      const entryOf = await registry.get(keyOf(queue));
      placement = entryOf === undefined ? undefined : parsePlacement(entryOf.value);
    }
    const isThere = placement?.adds?.includes(to) ?? placement?.partitions.includes(to);
    if (isThere === true) return;
    throw new SluiceError("QUEUE_NOT_FOUND", `there is no queue "${queue}"`, { queue });
  });
}

function stopped(queue: string, to: number): never {
  const message =
    `the queue ${queue} continues to move to partition ${to}; ` +
    "run the command again to wait until it is there";
  throw new SluiceError("ABORTED", message, { queue });
}
