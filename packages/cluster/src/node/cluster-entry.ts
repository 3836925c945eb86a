/** The entry `cluster`: what was decided when the cluster was made, and holds ever since. */
import { randomBytes } from "node:crypto";
import { FEATURE_LEVEL, releaseOf, tooNew } from "@sluice/broker";
import { PARTITIONS_MAX, SluiceError } from "@sluice/protocol";
import { PARTITIONS } from "../limits.ts";
import type { Registry } from "../registry/registry.ts";
import { isConflict } from "../within.ts";

export interface ClusterEntry {
  readonly name: string;
  readonly partitions: number;
  /** How many of them there were at first: names are divided over these for good. */
  readonly homes: number;
  /** What nodes show each other. */
  readonly secret: string;
  /** What all nodes understand of facts, registry and calls between nodes; absent: 1. */
  readonly level: number;
  /** The first release that understands it. */
  readonly needs: string;
}

export interface NewCluster {
  readonly name: string;
  readonly partitions?: number | undefined;
  /** Of a cluster that had grown before it was backed up. */
  readonly homes?: number | undefined;
  readonly level?: number | undefined;
}

export const CLUSTER_KEY = "cluster";
const SECRET_BYTES = 32;

/**
 * Joins a cluster by what this node understands. One that is not there is never made here: storage
 * that was lost would come back as a cluster that is new, empty and ready.
 */
export async function joinCluster(
  registry: Registry,
  level: number = FEATURE_LEVEL,
): Promise<ClusterEntry> {
  const found = await registry.get(CLUSTER_KEY);
  if (found === undefined) throw noCluster();
  const entry = read(found.value);
  if (entry.level > level) throw tooNew(`the cluster ${entry.name}`, entry.level, entry.needs);
  return entry;
}

/** Makes the entry of a new cluster; refused when there is one. */
export async function createCluster(
  registry: Registry,
  { name, partitions = PARTITIONS, homes = partitions, level = FEATURE_LEVEL }: NewCluster,
): Promise<ClusterEntry> {
  checkPartitions(partitions);
  const secret = randomBytes(SECRET_BYTES).toString("base64url");
  const entry = { name, partitions, homes, secret, level, needs: releaseOf(level) };
  try {
    await registry.create(CLUSTER_KEY, JSON.stringify(entry));
    return entry;
  } catch (error) {
    throw isConflict(error) ? clusterExists(name) : error;
  }
}

export function noCluster(): SluiceError {
  const message =
    "there is no cluster here. To make one, run `sluice cluster create` once. If there was one, " +
    "its storage is lost or the address is wrong";
  return new SluiceError("NOT_FOUND", message, { field: "cluster" });
}

export function clusterExists(name: string): SluiceError {
  const message = `the cluster ${name} exists already: start nodes with \`sluice serve --cluster\``;
  return new SluiceError("CONFLICT", message, { field: "cluster-name", value: name });
}

/** The level in an entry; 0 when it cannot be read. */
export function levelOf(text: string | undefined): number {
  try {
    return text === undefined ? 0 : read(text).level;
  } catch {
    return 0;
  }
}

/** Raises the level, and keeps all else of the entry as it is. Answers the entry. */
export async function raiseCluster(
  registry: Registry,
  level: number,
  needs: string,
): Promise<string> {
  const found = await registry.get(CLUSTER_KEY);
  const entry = found === undefined ? undefined : JSON.parse(found.value);
  if (found === undefined || (entry.level ?? 1) >= level) return found?.value ?? "";
  const text = JSON.stringify({ ...entry, level, needs });
  await registry.update(CLUSTER_KEY, text, found.revision);
  return text;
}

/** Adds partitions, whose logs exist already. Answers how many there were. */
export async function growCluster(registry: Registry, partitions: number): Promise<number> {
  checkPartitions(partitions);
  const found = await registry.get(CLUSTER_KEY);
  if (found === undefined) throw noCluster();
  const entry = read(found.value);
  if (entry.partitions === partitions) return partitions;
  if (entry.partitions > partitions) {
    const message =
      `the cluster has ${entry.partitions} partitions, and partitions cannot be removed: ` +
      `partitions must be more than that, got ${partitions}`;
    throw new SluiceError("INVALID", message, { field: "partitions", value: partitions });
  }
  const text = JSON.stringify({ ...JSON.parse(found.value), partitions, homes: entry.homes });
  await registry.update(CLUSTER_KEY, text, found.revision);
  return entry.partitions;
}

/** How many partitions an entry names; undefined when it cannot be read. */
export function partitionsIn(text: string | undefined): number | undefined {
  try {
    return text === undefined ? undefined : read(text).partitions;
  } catch {
    return undefined;
  }
}

function read(text: string): ClusterEntry {
  try {
    const { name, partitions, secret, level = 1, needs = "", ...rest } = JSON.parse(text);
    const { homes = partitions } = rest;
    checkPartitions(partitions);
    checkPartitions(homes);
    if (typeof secret === "string" && secret !== "" && Number.isSafeInteger(level))
      return { name: String(name), partitions, homes, secret, level, needs: String(needs) };
  } catch {
    // Said below, for whatever is wrong with it.
  }
  throw new SluiceError(
    "CONFLICT",
    "the registry's entry of the cluster is not valid: restore it from a backup",
  );
}

export function checkPartitions(partitions: unknown): void {
  const isWhole = Number.isInteger(partitions) && Number(partitions) >= 1;
  if (isWhole && Number(partitions) <= PARTITIONS_MAX) return;
  const message = `partitions must be a whole number from 1 to ${PARTITIONS_MAX}, got ${partitions}`;
  throw new SluiceError("INVALID", message, { field: "partitions", value: partitions });
}
