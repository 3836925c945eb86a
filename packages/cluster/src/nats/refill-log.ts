/** The stream of a partition, filled with what another log holds. */
import { openBroker } from "@sluice/broker";
import { type Copied, checkEmpty, copyBatches, FileLog } from "@sluice/log";
import { NatsLog, replaceLogStream } from "@sluice/log/nats";
import { SluiceError } from "@sluice/protocol";
import { homeOfGate } from "../hash.ts";
import type { ClusterEntry } from "../node/cluster-entry.ts";
import { streamOf } from "./log-streams.ts";
import type { Nats } from "./reach-nats.ts";

export interface RefillOptions {
  readonly connection: Nats;
  /** Of the cluster. */
  readonly name: string;
  readonly entry: Pick<ClusterEntry, "homes" | "level">;
  readonly partition: number;
  /** A log in a directory; absent: the partition begins with nothing. */
  readonly from?: string | undefined;
  readonly replicas?: number | undefined;
  readonly storageBytes?: number | undefined;
  readonly stop?: AbortSignal | undefined;
}

/**
 * Replaces the stream and fills it. A broker has opened it when this resolves: it fits together,
 * and no id, lease or lot of the former log is given again.
 */
export async function refillLog(options: RefillOptions): Promise<Copied> {
  const { connection, from, replicas, storageBytes } = options;
  const stream = streamOf(options.name, options.partition);
  const copies = replicas === undefined ? {} : { replicas };
  await replaceLogStream({ connection, stream, storageBytes, ...copies });
  const copied = await fill(connection, stream, from, options.stop);
  await prove(options, stream);
  return copied;
}

async function fill(
  connection: Nats,
  stream: string,
  from: string | undefined,
  stop: AbortSignal | undefined,
): Promise<Copied> {
  if (from === undefined) return { batches: 0, factsBytes: 0 };
  const source = await FileLog.open({ dir: from });
  try {
    const log = await NatsLog.open({ connection, stream, create: false });
    try {
      await checkEmpty(stream, log);
      return await copyBatches(source, log, { stop });
    } finally {
      await log.close();
    }
  } finally {
    await source.close();
  }
}

async function prove(
  { connection, entry, partition }: RefillOptions,
  stream: string,
): Promise<void> {
  const log = await NatsLog.open({ connection, stream, create: false });
  const others = Array.from({ length: entry.homes }, (_, i) => String(i));
  const own = String(partition);
  const broker = await openBroker({
    log,
    isRestored: true,
    level: { level: entry.level, behind: () => [] },
    homes: {
      name: own,
      others: others.filter((name) => name !== own),
      homeOf: (gate) => String(homeOfGate(gate, entry.homes)),
      lend: () =>
        Promise.reject(
          new SluiceError(
            "UNAVAILABLE",
            "the partition is held for a restore; try again when it is done",
          ),
        ),
    },
  }).catch(async (error) => {
    await log.close();
    throw error;
  });
  await broker.close();
}
