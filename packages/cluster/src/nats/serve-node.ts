/** A node of a cluster whose logs and registry are in NATS, with its server: all that one runs. */

import { dialWs } from "@sluice/client/ws";
import { NatsLink, NatsLog, type NatsLogOptions, readDurability } from "@sluice/log/nats";
import { RESUME, SERVER_OPTIONS, SluiceError, SystemClock } from "@sluice/protocol";
import { NatsHeartbeats } from "../heartbeats/nats-heartbeats.ts";
import { LOG_ACK_WAIT_MS, LOG_DEADLINE_MS } from "../limits.ts";
import { noCluster } from "../node/cluster-entry.ts";
import { ClusterNode, type LogShare } from "../node/cluster-node.ts";
import { type NodeServerOptions, runServedNode, type ServedNode } from "../node/served-node.ts";
import { NO_WAITING, type Waiting } from "../waiting.ts";
import { streamOf } from "./log-streams.ts";
import { checkAdvertised, clusterNameOf, nodeNameOf } from "./node-names.ts";
import { type NatsServers, type ReachedNats, reachNats, shownAddress } from "./reach-nats.ts";
import { firstServerOf, ServerWatch } from "./server-watch.ts";
import { StorageWatch } from "./storage-watch.ts";

export interface ServeNodeOptions extends NodeServerOptions {
  readonly nats: NatsServers;
  /** Hears why the start waits for NATS, and can end it. */
  readonly waiting?: Waiting | undefined;
}

interface NodePlace extends ReachedNats {
  readonly options: ServeNodeOptions;
  readonly cluster: string;
  readonly name: string;
}

export async function serveNode(options: ServeNodeOptions): Promise<ServedNode> {
  const { nats, server = {}, waiting = NO_WAITING } = options;
  const cluster = clusterNameOf(options.name);
  const name = nodeNameOf(options.node, server.port);
  checkAdvertised(options.advertise);
  const first = firstServerOf(name, nats.servers.length);
  const spread = { ...nats, access: { ...nats.access, first } };
  const reached = await reachNats(spread, { bucket: cluster }, waiting).catch((error) => {
    throw error instanceof SluiceError && error.code === "NOT_FOUND" ? noCluster() : error;
  });
  try {
    return await run({ options, cluster, name, ...reached });
  } catch (error) {
    await reached.connection.close();
    throw error;
  }
}

async function run(place: NodePlace): Promise<ServedNode> {
  const { options, connection, registry } = place;
  const failed = Promise.withResolvers<SluiceError>();
  const clock = new SystemClock();
  const storage: StorageWatch = new StorageWatch({
    ...{ clock, connection, streamOf: (partition) => streamOf(place.cluster, partition) },
    served: () => node.servedPartitions(),
  });
  const node = newNode(place, storage, failed.resolve);
  const watch = new ServerWatch({
    clock,
    link: NatsLink.of(connection),
    troubleMs: () => node.troubleMs(),
    onLeave: (ms) => options.onError?.(undefined, leftServer(connection, ms)),
  });
  return runServedNode(options, {
    node,
    failed: failed.promise,
    place: `${shownAddress(options.nats)} (cluster ${place.cluster}, node ${place.name})`,
    durability: () => durabilityOf(place, node.status().partitions.length),
    beforeLeave: () => {
      watch.stop();
      storage.stop();
    },
    close: async () => {
      await registry.close();
      await connection.close();
    },
  });
}

function leftServer(connection: ReachedNats["connection"], ms: number): SluiceError {
  const server = connection.info?.server_name ?? connection.getServer();
  const message = `no traffic through the NATS server ${server} for ${ms} ms; trying another one`;
  return new SluiceError("DISCONNECTED", message, { server });
}

function newNode(
  { options, cluster, name, connection, registry }: NodePlace,
  storage: StorageWatch,
  onSuperseded: (error: SluiceError) => void,
): ClusterNode {
  const { version, broker, onError, peerTls } = options;
  const { resume = SERVER_OPTIONS.resume.default } = options.server ?? {};
  const logOf = (partition: number, share: LogShare): NatsLogOptions => ({
    connection,
    stream: streamOf(cluster, partition),
    create: false,
    anchor: share.anchor,
    readCacheBytes: share.readCacheBytes,
    deadlineMs: LOG_DEADLINE_MS,
    ackWaitMs: LOG_ACK_WAIT_MS,
  });
  return new ClusterNode({
    registry,
    heartbeats: new NatsHeartbeats(connection, cluster),
    node: name,
    version,
    dial: dialWs(peerTls),
    openLog: (partition, share) => NatsLog.open(logOf(partition, share)),
    followLog: (partition, share) => NatsLog.follow(logOf(partition, share)),
    broker,
    storageOf: (partition) => storage.shareOf(partition),
    leaderOf: (partition) => storage.leaderOf(partition),
    nats: () => NatsLink.of(connection).state,
    resumeMs: RESUME.parse("resume", resume),
    onError,
    onSuperseded,
  });
}

function durabilityOf({ cluster, connection }: NodePlace, partitions: number): Promise<string> {
  const logs = Array.from({ length: partitions }, (_, i) => streamOf(cluster, i));
  return readDurability(connection, { logs, registry: `KV_${cluster}` });
}
