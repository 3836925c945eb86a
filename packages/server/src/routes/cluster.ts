import {
  type ClusterNodeInfo,
  type ClusterStatus,
  type Duration,
  duration,
  type Gained,
  type MoveInfo,
  type NatsInfo,
  type PartitionInfo,
  type QueuePlacement,
  SluiceError,
} from "@sluice/protocol";
import type { FastifyInstance } from "fastify";
import type { ClusterDoor } from "../cluster-door.ts";
import { Permit } from "../keys/permit.ts";
import { CLUSTER_WAIT_MS_MAX } from "../limits.ts";
import { goneSignal } from "./context.ts";
import { route } from "./route.ts";
import {
  about,
  answers,
  COUNT,
  FLAG,
  list,
  MS,
  maybe,
  NAME,
  object,
  refusable,
  type Schema,
  shape,
  TEXT,
  TIME,
} from "./shapes.ts";

const NODE: Schema = shape<ClusterNodeInfo>({
  id: NAME,
  address: TEXT,
  version: TEXT,
  startedAt: TIME,
  isAlive: FLAG,
  isDraining: FLAG,
  silentFor: MS,
  owned: COUNT,
  nats: maybe(about("The NATS server that it is connected to.", TEXT)),
});

const PARTITION: Schema = shape<PartitionInfo>({
  partition: COUNT,
  owner: maybe(about("Absent while no node owns it.", TEXT)),
  address: maybe(TEXT),
  epoch: about("Grows with every owner.", COUNT),
  state: TEXT,
  next: maybe(about("The node that takes it over.", TEXT)),
  lag: about("How long the oldest write has waited for the log.", MS),
  jobs: COUNT,
  openedIn: about("How long its owner took to open it.", MS),
  leader: maybe(about("The NATS server that leads its stream.", TEXT)),
  error: maybe(about("Why it is not served.", TEXT)),
});

const NATS: Schema = shape<NatsInfo>({
  server: TEXT,
  isConnected: FLAG,
  since: TIME,
  reconnects: COUNT,
  error: maybe(TEXT),
});

const MOVE: Schema = shape<MoveInfo>({
  partition: COUNT,
  from: TEXT,
  to: TEXT,
  epoch: COUNT,
  isHandedOver: FLAG,
  at: TIME,
});

const STATUS: Schema = shape<ClusterStatus>({
  name: TEXT,
  self: NAME,
  version: about("Another one for every change.", TEXT),
  isHearing: about("False: this node is cut off, and the rest may be out of date.", FLAG),
  partitionCount: COUNT,
  homeCount: maybe(about("How many there were at first.", COUNT)),
  storageUsed: about("Of the fullest log of this node, from 0 to 1.", { type: "number" }),
  nats: maybe(about("The connection of this node.", NATS)),
  nodes: list(NODE),
  partitions: list(PARTITION),
  placements: list(
    shape<QueuePlacement>({
      queue: NAME,
      partitions: list(COUNT),
      adds: maybe(about("Those that take new jobs; absent: all.", list(COUNT))),
      to: maybe(about("The partition that the queue moves to.", COUNT)),
    }),
  ),
  moves: list(MOVE),
  gained: about(
    "Partitions that this node got from others since it started.",
    shape<Gained>({ takeovers: COUNT, handovers: COUNT, givenUp: COUNT }),
  ),
});

const CLUSTER_WAIT = duration(0, CLUSTER_WAIT_MS_MAX);

const QUERY: Schema = object({
  after: { type: "string", maxLength: 300, description: "The version that you have." },
  wait: about("How long to wait for another one.", CLUSTER_WAIT.schema),
});

/** The cluster that the server is a node of; there are none without one. */
export function clusterRoutes(
  app: FastifyInstance,
  cluster: ClusterDoor | undefined,
  closing: AbortSignal,
): void {
  const door = (): ClusterDoor => {
    if (cluster !== undefined) return cluster;
    throw new SluiceError("NOT_FOUND", "this server is not a node of a cluster");
  };
  route<{ Querystring: { after?: string; wait?: Duration } }>(app, "GET /v1/cluster", {
    about: ["getCluster", "cluster", "Nodes, partitions, their owners, and moves"],
    description: "404 without a cluster. Placements are those of queues that you see.",
    querystring: QUERY,
    response: answers(STATUS),
    handler: async ({ principal, query: { after, wait = 0 } }, reply) => {
      const permit = new Permit(principal);
      permit.enterValid();
      const waitMs = CLUSTER_WAIT.parse("wait", wait);
      const known = door();
      const until = AbortSignal.any([closing, goneSignal(reply), AbortSignal.timeout(waitMs)]);
      if (known.status().version === after && waitMs > 0) await changed(known, until);
      const status = known.status();
      const placements = status.placements.filter(({ queue }) => permit.sees(queue));
      return { ...status, placements };
    },
  });
  const drain = "Have a node give its partitions to the others, until it is restarted";
  route<{ Params: { node: string } }>(app, "POST /v1/cluster/nodes/:node/drain", {
    about: ["drainNode", "cluster", drain],
    description:
      "Answered when the node knows; it is drained when it owns no partition any more. " +
      "409 when no other node is available to take its partitions.",
    response: refusable({
      202: { description: "It begins.", ...object({ node: NAME }, ["node"]) },
    }),
    handler: async ({ principal, params: { node } }, reply) => {
      new Permit(principal).enterAll("admin");
      await door().drain(node);
      return reply.code(202).send({ node });
    },
  });
}

/** Resolves with the next change, or when the caller has left. */
function changed(cluster: ClusterDoor, until: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const over = (): void => {
      stop();
      resolve();
    };
    const stop = cluster.onChange(over);
    if (until.aborted) over();
    else until.addEventListener("abort", over, { once: true });
  });
}
