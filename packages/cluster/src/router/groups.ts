/** Groups, whose members may be in any partition: there is no list of which. */
import {
  type Broker,
  checkSignal,
  type GroupInfo,
  SluiceError,
  toSluiceError,
} from "@sluice/protocol";
import type { PartitionCalls } from "./partition-calls.ts";

const NOT_FOUND = ["GROUP_NOT_FOUND"] as const;

/** What all partitions that know the group say of it. */
export async function groupOf(calls: PartitionCalls, group: string): Promise<GroupInfo> {
  const known = await calls.known(calls.all, NOT_FOUND, (port) => port.group(group));
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

/**
 * Answers when every partition that knows the group has seen its end. Members may come to others
 * meanwhile: then the wait continues for those.
 */
export async function groupEnded(
  calls: PartitionCalls,
  group: string,
  signal: AbortSignal | undefined,
): Promise<GroupInfo> {
  checkSignal(signal);
  for (;;) {
    const ends = await knownBy(calls, signal, (port) => port.groupEnded(group, { signal }));
    if (ends.length === 0) throw notFound(group);
    const infos = await knownBy(calls, signal, (port) => port.group(group));
    const info = merged(group, infos.length === 0 ? ends : infos);
    if (info.ended) return info;
  }
}

/** However long it takes: a call that waits for an end also waits for a partition that moves. */
async function knownBy(
  calls: PartitionCalls,
  signal: AbortSignal | undefined,
  call: (port: Broker) => Promise<GroupInfo>,
): Promise<GroupInfo[]> {
  const answers = calls.all.map(async (partition) => {
    try {
      return [await calls.make(partition, call)];
    } catch (error) {
      if (toSluiceError(error).code === "GROUP_NOT_FOUND") return [];
      checkSignal(signal);
      throw error;
    }
  });
  return (await Promise.all(answers)).flat();
}

function notFound(group: string): SluiceError {
  const message = `there is no group ${JSON.stringify(group)}`;
  return new SluiceError("GROUP_NOT_FOUND", message, { field: "group", value: group });
}
