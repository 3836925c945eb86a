/** Groups, whose members may be in any partition: nobody keeps a list of which. */
import { type GroupInfo, SluiceError, toSluiceError } from "@sluice/protocol";
import type { Reach } from "./reach.ts";
import { aborted, isAborted } from "./refuse.ts";

const NOT_FOUND = ["GROUP_NOT_FOUND"] as const;

/** What all partitions that know the group say of it. */
export async function groupOf(reach: Reach, group: string): Promise<GroupInfo> {
  const known = await reach.known(reach.all, NOT_FOUND, (port) => port.group(group));
  return merged(
    group,
    known.map(({ value }) => value),
  );
}

function merged(id: string, infos: readonly GroupInfo[]): GroupInfo {
  return {
    id,
    ended: infos.every(({ ended }) => ended),
    members: infos.flatMap(({ members }) => members),
  };
}

/** Answers when every partition that knows the group has seen its end. */
export async function groupEnded(
  reach: Reach,
  group: string,
  signal: AbortSignal | undefined,
): Promise<GroupInfo> {
  for (;;) {
    if (isAborted(signal)) throw aborted(signal);
    const info = await groupOf(reach, group);
    if (info.ended) return info;
    // Members may come to other partitions meanwhile: then the wait goes on for those.
    await endedEverywhere(reach, group, signal);
  }
}

async function endedEverywhere(
  reach: Reach,
  group: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const waits = reach.all.map((partition) =>
    reach
      .port(partition)
      .groupEnded(group, { signal })
      .catch((error) => {
        if (toSluiceError(error).code !== "GROUP_NOT_FOUND") throw error;
      }),
  );
  try {
    await Promise.all(waits);
  } catch (error) {
    throw isAborted(signal) ? aborted(signal) : (error as SluiceError);
  }
}
