/** A node of a cluster whose logs and registry are in PostgreSQL, with its server. */
import { dialWs } from "@sluice/client/ws";
import { checkDurability, PostgresLog } from "@sluice/log/postgres";
import { RESUME, SERVER_OPTIONS, SluiceError } from "@sluice/protocol";
import { LOG_DEADLINE_MS } from "../limits.ts";
import { checkAdvertised, clusterNameOf, nodeNameOf } from "../nats/node-names.ts";
import { noCluster } from "../node/cluster-entry.ts";
import { ClusterNode } from "../node/cluster-node.ts";
import { type NodeServerOptions, runServedNode, type ServedNode } from "../node/served-node.ts";
import { NO_WAITING, type Waiting } from "../waiting.ts";
import { logOf } from "./create-cluster.ts";
import { ANSWER_MS } from "./limits.ts";
import { PostgresHeartbeats } from "./postgres-heartbeats.ts";
import { type ReachedPostgres, reachPostgres, shownDatabase } from "./reach-postgres.ts";

export interface ServePostgresNodeOptions extends NodeServerOptions {
  readonly url: string;
  /** Hears why the start waits for the database, and can end it. */
  readonly waiting?: Waiting | undefined;
  /** A warning for the operator, in one sentence. */
  readonly onWarning?: ((warning: string) => void) | undefined;
}

export async function servePostgresNode(options: ServePostgresNodeOptions): Promise<ServedNode> {
  const { url, server = {}, waiting = NO_WAITING, onWarning = () => {} } = options;
  const cluster = clusterNameOf(options.name);
  const name = nodeNameOf(options.node, server.port);
  checkAdvertised(options.advertise);
  const reached = await reachPostgres(url, cluster, false, waiting).catch((error) => {
    throw error instanceof SluiceError && error.code === "NOT_FOUND" ? noCluster() : error;
  });
  const failed = Promise.withResolvers<SluiceError>();
  try {
    const durability = { durability: "fsync", name: cluster, onWarning } as const;
    await reached.statements.run((client) => checkDurability(client, durability));
    return await runServedNode(options, {
      node: newNode(options, reached, cluster, name, failed.resolve),
      failed: failed.promise,
      place: `${shownDatabase(url)} (cluster ${cluster}, node ${name})`,
      durability: async () => "on the disk of PostgreSQL before it is confirmed",
      close: reached.close,
    });
  } catch (error) {
    await reached.close();
    throw error;
  }
}

/** Without `followLog`: a partition that moves is read when its new owner opens it. */
function newNode(
  options: ServePostgresNodeOptions,
  { url, registry, notices }: ReachedPostgres,
  cluster: string,
  name: string,
  onSuperseded: (error: SluiceError) => void,
): ClusterNode {
  const { version, broker, onError, peerTls } = options;
  const { resume = SERVER_OPTIONS.resume.default } = options.server ?? {};
  return new ClusterNode({
    registry,
    heartbeats: new PostgresHeartbeats(notices, cluster),
    node: name,
    version,
    dial: dialWs(peerTls),
    openLog: (partition, { anchor, readCacheBytes }) =>
      PostgresLog.open({
        ...{ url, anchor, readCacheBytes, name: logOf(cluster, partition) },
        ...{ create: false, exclusive: false, deadlineMs: LOG_DEADLINE_MS, answerMs: ANSWER_MS },
      }),
    broker,
    resumeMs: RESUME.parse("resume", resume),
    onError,
    onSuperseded,
  });
}
