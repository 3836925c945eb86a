/** A node of a cluster whose logs and registry are in NATS, with its server: all that one runs. */

import { type ClientTls, dialWs } from "@sluice/client/ws";
import { NatsLog, type NatsLogOptions, readDurability } from "@sluice/log/nats";
import { type Broker, REPLICAS_MAX, RESUME, SERVER_OPTIONS, SluiceError } from "@sluice/protocol";
import { type RunningServer, type ServeOptions, serve } from "@sluice/server";
import { LEAVE_MS, LOG_DEADLINE_MS } from "../limits.ts";
import { ClusterNode, type ClusterNodeOptions, type LogShare } from "../node/cluster-node.ts";
import { partitionsOf, streamOf } from "./log-streams.ts";
import { advertisedAddress, allowedHosts, clusterNameOf, nodeNameOf } from "./node-names.ts";
import {
  type NatsServers,
  patiently,
  type ReachedNats,
  reachNats,
  shownAddress,
  type Waiting,
} from "./reach-nats.ts";

export interface ServeNodeOptions
  extends Pick<ClusterNodeOptions, "broker" | "onError" | "partitions" | "version"> {
  readonly nats: NatsServers;
  /** Of the cluster: names its bucket, and begins the names of its streams. Default `sluice`. */
  readonly name?: string | undefined;
  /** What this node is called. Default: its machine and its port. */
  readonly node?: string | undefined;
  /** Copies of new logs and of a new registry. Default: 3 where there are several servers. */
  readonly replicas?: number | undefined;
  /** Where clients and other nodes reach this one. Default: where it listens. */
  readonly advertise?: string | undefined;
  /** What nodes show each other, and whom they trust. */
  readonly peerTls?: ClientTls | undefined;
  /** Of its server, as `serve` takes them. */
  readonly server?: Omit<ServeOptions, "broker" | "cluster"> | undefined;
  /** Pages of the dashboard that show the node. */
  readonly pages?: ((node: ClusterNode) => ServeOptions["pages"]) | undefined;
  /** Hears why the start waits for NATS, and can end it. */
  readonly waiting?: Waiting | undefined;
}

export interface ServedNode {
  readonly address: string;
  /** Where its data is, for people. */
  readonly place: string;
  /** What is kept through what. */
  readonly durability: string;
  readonly node: ClusterNode;
  readonly broker: Promise<Broker>;
  readonly server: RunningServer;
  /** Resolves when another process has taken the name of this node. */
  readonly failed: Promise<SluiceError>;
  /** Gives its partitions to the others, and ends. */
  close(): Promise<void>;
}

interface NodePlace extends ReachedNats {
  readonly options: ServeNodeOptions;
  readonly cluster: string;
  readonly name: string;
  readonly partitions: number | undefined;
}

const NO_WAITING: Waiting = { stop: new AbortController().signal, say: () => {} };

export async function serveNode(options: ServeNodeOptions): Promise<ServedNode> {
  const { nats, replicas, server = {}, waiting = NO_WAITING } = options;
  checkReplicas(replicas);
  const cluster = clusterNameOf(options.name);
  const name = nodeNameOf(options.node, server.port);
  const reached = await reachNats(nats, cluster, replicas, waiting);
  try {
    const partitions = await patiently(waiting, shownAddress(nats), () =>
      partitionsOf(cluster, reached, options.partitions),
    );
    return await run({ options, cluster, name, partitions, ...reached });
  } catch (error) {
    await reached.connection.close();
    throw error;
  }
}

async function run(place: NodePlace): Promise<ServedNode> {
  const { options, connection, registry } = place;
  const { server: own = {}, advertise, pages } = options;
  const failed = Promise.withResolvers<SluiceError>();
  const joined = Promise.withResolvers<Broker>();
  joined.promise.catch(() => {});
  const node = newNode(place, failed.resolve);
  const hasKeys = own.keys !== undefined && own.keys !== false;
  const server = await serve({
    ...own,
    broker: joined.promise,
    cluster: node,
    pages: pages?.(node) ?? own.pages,
    allowHosts: allowedHosts(advertise, own.allowHosts, hasKeys),
  });
  const close = async (): Promise<void> => {
    await node.leave({ timeout: LEAVE_MS });
    await server.close();
    await node.stop();
    await registry.close();
    await connection.close();
  };
  const { address } = server;
  try {
    joined.resolve(await node.start(advertisedAddress(advertise, own.host, address)));
    const durability = await durabilityOf(place, node.status().partitions.length);
    const shown = `${shownAddress(options.nats)} (cluster ${place.cluster}, node ${place.name})`;
    const { promise: broker } = joined;
    return {
      address,
      place: shown,
      durability,
      node,
      broker,
      server,
      failed: failed.promise,
      close,
    };
  } catch (error) {
    joined.reject(error);
    await close();
    throw error;
  }
}

function newNode(
  { options, cluster, name, partitions, connection, registry }: NodePlace,
  onSuperseded: (error: SluiceError) => void,
): ClusterNode {
  const { replicas, version, broker, onError, peerTls } = options;
  const { resume = SERVER_OPTIONS.resume.default } = options.server ?? {};
  const logOf = (partition: number, share: LogShare): NatsLogOptions => ({
    connection,
    stream: streamOf(cluster, partition),
    create: !share.hasLog,
    anchor: share.anchor,
    readCacheBytes: share.readCacheBytes,
    deadlineMs: LOG_DEADLINE_MS,
    ...(replicas === undefined ? {} : { replicas }),
  });
  return new ClusterNode({
    registry,
    name: cluster,
    node: name,
    version,
    partitions,
    dial: dialWs(peerTls),
    openLog: (partition, share) => NatsLog.open(logOf(partition, share)),
    followLog: (partition, share) => NatsLog.follow(logOf(partition, share)),
    broker,
    resumeMs: RESUME.parse("resume", resume),
    onError,
    onSuperseded,
  });
}

function durabilityOf(
  { options: { replicas }, cluster, connection }: NodePlace,
  partitions: number,
): Promise<string> {
  const logs = Array.from({ length: partitions }, (_, i) => streamOf(cluster, i));
  return readDurability(connection, { logs, registry: `KV_${cluster}`, replicas });
}

/** Refused before anything is made. */
function checkReplicas(replicas = 1): void {
  if (Number.isInteger(replicas) && replicas >= 1 && replicas <= REPLICAS_MAX) return;
  const message = `replicas must be a whole number from 1 to ${REPLICAS_MAX}, got ${replicas}`;
  throw new SluiceError("INVALID", message, { field: "replicas", value: replicas });
}
