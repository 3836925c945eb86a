/**
 * Makes a damaged partition one that opens: its log begins again with what was written before the
 * damage. All that could be read, also behind the damage, is kept in a directory.
 *
 *   1. the partition is held: no node opens it;
 *   2. `log` in the directory gets the batches before the damage, `behind.jsonl` every message from
 *      there on, and `reset.json` says that both are complete;
 *   3. the stream is replaced and filled from `log`;
 *   4. the partition is released, and a node serves it.
 *
 * A reset that was interrupted is run again with the same directory.
 */
import { mkdir, open, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { type Batch, type Copied, checkEmpty, copyBatches, FileLog } from "@sluice/log";
import { findStream, NatsLog, type ReadLog, readMessages } from "@sluice/log/nats";
import { SluiceError, toSluiceError } from "@sluice/protocol";
import { ANCHOR_PREFIX, parseAnchor } from "../node/entries.ts";
import { writeDurably } from "./backup-files.ts";
import { holdPartition, releasePartition } from "./held-partition.ts";
import { streamOf } from "./log-streams.ts";
import { type ClusterPlace, type OpenCluster, withCluster } from "./open-cluster.ts";
import { refillLog } from "./refill-log.ts";

export interface ResetOptions extends ClusterPlace {
  readonly partition: number;
  /** Where what could be read is kept. */
  readonly aside: string;
  /** Batches from this sequence on are left out, damaged or not. */
  readonly before?: number | undefined;
  readonly stop?: AbortSignal | undefined;
}

export interface ResetReport extends Copied {
  /** What was wrong; absent: nothing was, up to `before`. */
  readonly damage?: string | undefined;
  /** Messages behind it, which the partition has no more. */
  readonly behind: number;
}

const NOTE = "reset.json";

export function resetPartition(options: ResetOptions): Promise<ResetReport> {
  return withCluster(options, async (cluster) => {
    const { partition, aside, stop } = options;
    const { connection, registry, name, entry } = cluster;
    if (partition >= entry.partitions) {
      const range = `cluster ${name} has 0 to ${entry.partitions - 1}`;
      const message = `there is no partition ${partition}: ${range}`;
      throw new SluiceError("NOT_FOUND", message, { partition });
    }
    const report = (await readReport(aside)) ?? (await putAside(cluster, options));
    await holdPartition(registry, partition, "reset");
    const from = join(aside, "log");
    await refillLog({ connection, name, entry, partition, from, stop });
    await releasePartition(registry, partition);
    return report;
  });
}

async function putAside(cluster: OpenCluster, options: ResetOptions): Promise<ResetReport> {
  const { partition, aside, before, stop } = options;
  const { connection, registry, name } = cluster;
  await mkdir(aside, { recursive: true });
  await checkOwnDir(aside);
  await holdPartition(registry, partition, "reset");
  const stream = streamOf(name, partition);
  const found = await findStream(connection, stream);
  const anchor = parseAnchor((await registry.get(ANCHOR_PREFIX + partition))?.value);
  const to = await FileLog.open({ dir: join(aside, "log") });
  let report: ResetReport = { batches: 0, factsBytes: 0, behind: 0 };
  try {
    await checkEmpty(aside, to);
    if (found === undefined) report = { ...report, damage: `there is no stream ${stream}` };
    else {
      const prefix = new Prefix(await NatsLog.read({ connection, stream, anchor }), before);
      const copied = await copyBatches(prefix, to, { stop });
      await prefix.close();
      const behind = await writeMessages(cluster, stream, prefix.end, join(aside, "behind.jsonl"));
      report = { ...copied, behind, damage: prefix.damage };
    }
  } finally {
    await to.close();
  }
  await writeDurably(join(aside, NOTE), `${JSON.stringify(report)}\n`);
  return report;
}

/** The batches of a log up to its damage, or to a position. */
class Prefix {
  readonly #log: ReadLog;
  readonly #before: number;
  damage: string | undefined;
  /** Nothing of it is at this position or behind it. */
  end = 1;

  constructor(log: ReadLog, before = Number.POSITIVE_INFINITY) {
    this.#log = log;
    this.#before = before;
  }

  get sizeBytes(): number {
    return this.#log.sizeBytes;
  }

  async *replay(): AsyncGenerator<Batch> {
    try {
      for await (const batch of this.#log.replay()) {
        if (batch.position >= this.#before) return;
        yield batch;
        this.end = batch.position + 1;
      }
    } catch (cause) {
      const error = toSluiceError(cause);
      if (error.code !== "LOG_DAMAGED" && error.code !== "LOG_VERSION") throw error;
      this.damage = error.message;
    }
  }

  close(): Promise<void> {
    return this.#log.close();
  }
}

async function writeMessages(
  { connection }: OpenCluster,
  stream: string,
  first: number,
  path: string,
): Promise<number> {
  const file = await open(path, "w");
  let count = 0;
  try {
    for await (const { sequence, data } of readMessages(connection, stream, first)) {
      const text = Buffer.from(data).toString("base64");
      await file.write(`${JSON.stringify({ sequence, data: text })}\n`);
      count++;
    }
    await file.sync();
  } finally {
    await file.close();
  }
  return count;
}

async function readReport(aside: string): Promise<ResetReport | undefined> {
  const text = await readFile(join(aside, NOTE), "utf8").catch(() => undefined);
  return text === undefined ? undefined : JSON.parse(text);
}

/** What an interrupted reset has left is made again; anything else is not ours. */
async function checkOwnDir(aside: string): Promise<void> {
  const names = await readdir(aside);
  const foreign = names.filter((name) => !["log", "behind.jsonl", `${NOTE}.new`].includes(name));
  if (foreign.length > 0) {
    const message = `${aside} is not empty (${foreign[0]}): name a new directory`;
    throw new SluiceError("CONFLICT", message, { field: "aside", value: aside });
  }
  for (const name of names) await rm(join(aside, name), { recursive: true });
}
