/** A node of a cluster: all that `sluice serve --cluster` runs. */
import { dialWs } from "@sluice/cluster/client";
import { ClusterNode, type LogShare } from "@sluice/cluster/node";
import { NatsLog, type NatsLogOptions, REPLICAS_MAX, readDurability } from "@sluice/log/nats";
import { type Broker, SluiceError, SystemClock } from "@sluice/protocol";
import { LEAVE_MS, LOG_DEADLINE_MS } from "../limits.ts";
import { readPem } from "../read-pem.ts";
import { clusterPage } from "./cluster-page.ts";
import { addressOf, clusterNameOf, hostsOf, nodeNameOf } from "./node-names.ts";
import { partitionsOf, streamOf } from "./partitions.ts";
import { addressOfNats, patiently, type Reached, reachNats, type Waiting } from "./reach-nats.ts";
import { brokerOptions, type Listening, listen, type Served, tlsOf } from "./server.ts";
import type { ServeSettings } from "./settings.ts";
import { VERSION } from "./version.ts";

/** What the node is called, and what it has reached. */
interface Place extends Reached {
  readonly settings: ServeSettings;
  readonly cluster: string;
  readonly node: string;
  readonly partitions: number | undefined;
}

export async function startNode(settings: ServeSettings, waiting: Waiting): Promise<Served> {
  checkSettings(settings);
  const cluster = clusterNameOf(settings);
  const node = nodeNameOf(settings);
  const reached = await reachNats(settings, cluster, waiting);
  try {
    const partitions = await patiently(waiting, addressOfNats(settings).shown, () =>
      partitionsOf(cluster, reached, settings.partitions),
    );
    return await run({ settings, cluster, node, partitions, ...reached });
  } catch (error) {
    await reached.connection.close();
    throw error;
  }
}

async function run(place: Place): Promise<Served> {
  const { settings, connection, registry } = place;
  const failed = Promise.withResolvers<SluiceError>();
  const joined = Promise.withResolvers<Broker>();
  joined.promise.catch(() => {});
  const node = newNode(place, failed.resolve);
  const listening: Listening = {
    broker: joined.promise,
    cluster: node,
    pages: [clusterPage(node)],
    hosts: hostsOf(settings),
  };
  const running = await listen(settings, listening);
  const close = async (): Promise<void> => {
    await node.leave({ timeoutMs: LEAVE_MS });
    await running.close();
    await node.stop();
    await registry.close();
    await connection.close();
  };
  try {
    joined.resolve(await node.start(addressOf(settings, running)));
    return {
      address: running.address,
      dir: `${addressOfNats(settings).shown} (cluster ${place.cluster}, node ${place.node})`,
      durability: await durabilityOf(place, node.status().partitions.length),
      broker: joined.promise,
      firstKey: running.firstKey,
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
  { settings, cluster, node, partitions, connection, registry }: Place,
  onSuperseded: (error: SluiceError) => void,
): ClusterNode {
  const { replicas } = settings;
  const logOf = (partition: number, { readCacheBytes, hasLog }: LogShare): NatsLogOptions => ({
    connection,
    stream: streamOf(cluster, partition),
    create: !hasLog,
    readCacheBytes,
    deadlineMs: LOG_DEADLINE_MS,
    ...(replicas === undefined ? {} : { replicas }),
  });
  return new ClusterNode({
    registry,
    name: cluster,
    node,
    version: VERSION,
    partitions,
    clock: new SystemClock(),
    dial: dialWs(peerTls(settings)),
    openLog: (partition, share) => NatsLog.open(logOf(partition, share)),
    followLog: (partition, share) => NatsLog.follow(logOf(partition, share)),
    broker: brokerOptions(settings),
    resumeMs: settings["resume-ms"],
    onError: (partition, { message }) => {
      const about = partition === undefined ? "cluster" : `partition ${partition}`;
      process.stderr.write(`${about}: ${message}\n`);
    },
    onSuperseded,
  });
}

/** Nodes show each other what they show their clients, and trust whom they are told to. */
function peerTls(settings: ServeSettings): Parameters<typeof dialWs>[0] {
  const { ca: clientCa, cert, key } = tlsOf(settings) ?? {};
  const { "peer-ca": peerCa } = settings;
  const ca = peerCa === undefined ? clientCa : readPem("peer-ca", peerCa);
  return ca === undefined ? {} : { ca, cert, key };
}

function durabilityOf(
  { settings, cluster, connection }: Place,
  partitions: number,
): Promise<string> {
  const logs = Array.from({ length: partitions }, (_, i) => streamOf(cluster, i));
  const { replicas } = settings;
  return readDurability(connection, { logs, registry: `KV_${cluster}`, replicas });
}

/** What cannot be is refused before anything is made. */
function checkSettings({ dir, durability, replicas = 1 }: ServeSettings): void {
  const alone = dir === undefined ? durability && "durability" : "dir";
  if (alone) {
    const message = `${alone} is for a server alone: the jobs of a cluster lie in NATS`;
    throw new SluiceError("INVALID", message, { field: alone });
  }
  if (Number.isInteger(replicas) && replicas >= 1 && replicas <= REPLICAS_MAX) return;
  const message = `replicas must be a whole number from 1 to ${REPLICAS_MAX}, got ${replicas}`;
  throw new SluiceError("INVALID", message, { field: "replicas", value: replicas });
}
