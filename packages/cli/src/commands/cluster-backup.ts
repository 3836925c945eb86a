/** A cluster, copied to a directory and brought back. */
import type { BackedUpLog } from "@sluice/cluster/nats";
import { type Call, EXIT, type Options, tell, wholeOf } from "../command.ts";
import { counted } from "../show.ts";
import { bytesOf, onNats } from "./cluster-create.ts";

export const RESTORE_OPTIONS: Options = {
  partition: { type: "string" },
  "allow-missing": { type: "boolean" },
};

/** Wrong when a partition is not in it: a script must not take it for a whole backup. */
export async function backUp(call: Call, dir: string): Promise<number> {
  const { place, backupCluster } = await onNats(call);
  const { stop } = call;
  const note = await backupCluster({ ...place, dir, stop, onPartition: remarks(call) });
  const missing = note.logs.filter(({ error }) => error !== undefined);
  const whole = counted(note.partitions - missing.length, "partition");
  const code = tell(call, note, () => {
    if (missing.length === 0) return `backed up ${whole} of the cluster ${note.name} to ${dir}`;
    const names = missing.map(({ partition }) => partition).join(", ");
    return `backed up ${whole} to ${dir}; not in the backup: partition ${names}`;
  });
  return missing.length === 0 ? code : EXIT.wrong;
}

export async function restore(call: Call, dir: string): Promise<number> {
  const { place, restoreCluster } = await onNats(call);
  const partition = wholeOf(call, "partition");
  const note = await restoreCluster({
    ...place,
    dir,
    partition,
    replicas: wholeOf(call, "replicas", 1),
    storageBytes: bytesOf(call, "storage"),
    allowMissing: call.values["allow-missing"] === true,
    stop: call.stop,
    onPartition: remarks(call),
  });
  const taken = new Date(note.takenAt).toISOString();
  return tell(call, { dir, takenAt: note.takenAt, partition }, () => {
    if (partition !== undefined) return `partition ${partition} is as it was at ${taken}`;
    const name = place.name ?? note.name;
    return `the cluster ${name} is as it was at ${taken}: start nodes with sluice serve --cluster`;
  });
}

function remarks({ output }: Call): (log: BackedUpLog) => void {
  return ({ partition, batches, factsBytes, error }) => {
    const what = error ?? `${counted(batches, "batch", "batches")}, ${counted(factsBytes, "byte")}`;
    output.progress.write(`partition ${partition}: ${what}\n`);
  };
}
