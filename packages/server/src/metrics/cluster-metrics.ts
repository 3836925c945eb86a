/**
 * A node of a cluster, for Prometheus. Only the owner of a partition tells its figures, so that a
 * sum over the nodes counts each once. What a node sees of the whole cluster begins with
 * `sluice_cluster_`: the same on all nodes, so the largest is taken.
 */
import type { ClusterStatus, Gained } from "@sluice/protocol";
import type { Readings } from "./reading.ts";

export function readCluster(status: ClusterStatus, readings: Readings): void {
  readView(status, readings);
  readPartitions(status, readings);
  readGained(status, readings);
  const { nats } = status;
  if (nats === undefined) return;
  const up = "1 while the node is connected to a NATS server";
  readings.gauge("sluice_nats_connected", up, nats.isConnected ? 1 : 0);
  const again = "How often the node has connected to NATS again";
  readings.counter("sluice_nats_reconnects_total", again, nats.reconnects);
}

function readView({ nodes, partitions, storageUsed }: ClusterStatus, readings: Readings): void {
  const missing = partitions.filter(({ state }) => state !== "serving").length;
  const help = "Partitions that no node serves, and are in no other figure";
  readings.gauge("sluice_cluster_partitions_missing", help, missing);
  const alive = nodes.filter(({ isAlive }) => isAlive).length;
  readings.gauge("sluice_cluster_nodes_alive", "Nodes that this one hears", alive);
  const used = "Part of its storage that the fullest log of this node uses, from 0 to 1";
  readings.gauge("sluice_cluster_storage_used", used, storageUsed);
}

const GAINED = {
  takeovers: "takeover",
  handovers: "handover",
  givenUp: "given-up",
} as const satisfies Record<keyof Gained, string>;

function readGained({ gained }: ClusterStatus, readings: Readings): void {
  const help = "Partitions that this node got from other nodes since it started";
  for (const [name, how] of Object.entries(GAINED)) {
    const count = gained[name as keyof Gained];
    readings.counter("sluice_partitions_gained_total", help, count, { how });
  }
}

function readPartitions({ self, partitions }: ClusterStatus, readings: Readings): void {
  const own = partitions.filter(({ owner }) => owner === self);
  readings.gauge("sluice_partitions_owned", "Partitions that this node owns", own.length);
  for (const { partition, state, lag, jobs, openedIn, error } of own) {
    const labels = { partition: String(partition) };
    const served = "1 while its owner serves it";
    readings.gauge("sluice_partition_served", served, state === "serving" ? 1 : 0, labels);
    const trouble = "1 while it is not served because of an error";
    readings.gauge("sluice_partition_error", trouble, error === undefined ? 0 : 1, labels);
    const late = "How long the oldest write has waited for the log";
    readings.gauge("sluice_partition_lag_seconds", late, lag / 1000, labels);
    readings.gauge("sluice_partition_jobs", "Jobs that wait, are delayed or run", jobs, labels);
    const opened = "How long its owner took to open it";
    readings.gauge("sluice_partition_open_seconds", opened, openedIn / 1000, labels);
  }
}
