/** Says in the registry where a queue is to move. The owner of that partition moves it. */
import { SluiceError } from "@sluice/protocol";
import type { Placement } from "./placement.ts";
import type { RegistryDirectory } from "./registry-directory.ts";

export async function askToMove(
  directory: RegistryDirectory,
  queue: string,
  to: number,
): Promise<Placement> {
  const last = directory.partitions - 1;
  if (!Number.isInteger(to) || to < 0 || to > last) {
    const message = `to must be a partition from 0 to ${last}, got ${to}`;
    throw new SluiceError("INVALID", message, { field: "to", value: to });
  }
  return directory.change(queue, (known) => {
    const placement = known ?? { partitions: directory.placementOf(queue) };
    if (placement.to !== undefined && placement.to !== to) {
      const message = `the queue ${queue} is moving to partition ${placement.to}: wait until it is there`;
      throw new SluiceError("CONFLICT", message, { field: "to", value: to });
    }
    const adds = placement.adds ?? placement.partitions;
    const isThere = adds.length === 1 && adds[0] === to;
    return isThere || placement.to === to ? placement : { ...placement, to };
  });
}
