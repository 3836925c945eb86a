/** The entry `cluster`: what was decided when the cluster was made, and holds ever since. */
import { randomBytes } from "node:crypto";
import { PARTITIONS_MAX, SluiceError } from "@sluice/protocol";
import { PARTITIONS } from "../limits.ts";
import type { Registry } from "../registry/registry.ts";
import { isConflict } from "../within.ts";

export interface ClusterEntry {
  readonly name: string;
  readonly partitions: number;
  /** What nodes show each other. */
  readonly secret: string;
}

const KEY = "cluster";
const SECRET_BYTES = 32;

/** Makes the cluster, or joins it; a number of partitions that it does not have is refused. */
export async function joinCluster(
  registry: Registry,
  { name = "sluice", partitions }: { name?: string | undefined; partitions?: number | undefined },
): Promise<ClusterEntry> {
  if (partitions !== undefined) checkPartitions(partitions);
  const found = await registry.get(KEY);
  const entry = found === undefined ? await make(registry, name, partitions) : read(found.value);
  if (partitions === undefined || partitions === entry.partitions) return entry;
  const message = `the cluster has ${entry.partitions} partitions, which cannot be changed`;
  throw new SluiceError("CONFLICT", message, { field: "partitions", value: partitions });
}

async function make(
  registry: Registry,
  name: string,
  partitions = PARTITIONS,
): Promise<ClusterEntry> {
  const entry = { name, partitions, secret: randomBytes(SECRET_BYTES).toString("base64url") };
  try {
    await registry.create(KEY, JSON.stringify(entry));
    return entry;
  } catch (error) {
    // Another node was faster: it is that one's cluster.
    const found = isConflict(error) ? await registry.get(KEY) : undefined;
    if (found === undefined) throw error;
    return read(found.value);
  }
}

function read(text: string): ClusterEntry {
  try {
    const { name, partitions, secret } = JSON.parse(text);
    checkPartitions(partitions);
    if (typeof secret === "string" && secret !== "")
      return { name: String(name), partitions, secret };
  } catch {
    // Said below, for whatever is wrong with it.
  }
  throw new SluiceError("CONFLICT", "the registry's entry of the cluster cannot be read");
}

function checkPartitions(partitions: unknown): void {
  const isWhole = Number.isInteger(partitions) && Number(partitions) >= 1;
  if (isWhole && Number(partitions) <= PARTITIONS_MAX) return;
  const message = `partitions must be a whole number from 1 to ${PARTITIONS_MAX}, got ${partitions}`;
  throw new SluiceError("INVALID", message, { field: "partitions", value: partitions });
}
