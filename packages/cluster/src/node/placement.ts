/**
 * What the registry says about where a queue is. A queue that moves to partition `to` is in one of
 * these states, each written by the step before:
 *
 *   asked    `to` is named, and `adds` is not: its owner makes the queue there, paused
 *   moving   `adds` is `to` alone: new jobs go there, and wait until the others have none
 *   moved    `to` is gone: the new partition works, the others keep what has ended
 */
export interface Placement {
  /** All that hold the queue. None is ever taken off. */
  readonly partitions: readonly number[];
  /** Those that take new jobs; absent: all. */
  readonly adds?: readonly number[] | undefined;
  /** Where it moves. */
  readonly to?: number | undefined;
}

/** An entry that cannot be read holds nothing. */
export function parsePlacement(text: string): Placement {
  try {
    const { partitions, adds, to } = JSON.parse(text) as Record<string, unknown>;
    const own = numbersIn(adds);
    return {
      partitions: numbersIn(partitions),
      ...(own.length === 0 ? {} : { adds: own }),
      ...(Number.isInteger(to) ? { to: to as number } : {}),
    };
  } catch {
    return { partitions: [] };
  }
}

/** More partitions hold the queue, and take jobs. */
export function spreadTo(known: Placement, partitions: readonly number[]): Placement {
  const { adds } = known;
  const added = partitions.filter((partition) => !known.partitions.includes(partition));
  const all = [...known.partitions, ...added];
  return {
    ...known,
    partitions: all,
    ...(adds === undefined ? {} : { adds: [...adds, ...added] }),
  };
}

/** The partition that holds its jobs back until the others are empty. */
export function heldAt({ adds, to }: Placement): number | undefined {
  return to !== undefined && adds?.includes(to) === true ? to : undefined;
}

function numbersIn(list: unknown): number[] {
  return Array.isArray(list) ? list.filter(Number.isInteger) : [];
}
