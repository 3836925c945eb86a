/** A node with its server: what is the same wherever its logs and its registry are. */
import type { ClientTls } from "@sluice/client/ws";
import type { Broker, SluiceError } from "@sluice/protocol";
import { type RunningServer, type ServeOptions, serve } from "@sluice/server";
import { LEAVE_MS } from "../limits.ts";
import { advertisedAddress, allowedHosts } from "../nats/node-names.ts";
import type { ClusterNode, ClusterNodeOptions } from "./cluster-node.ts";

export interface NodeServerOptions
  extends Pick<ClusterNodeOptions, "broker" | "onError" | "version"> {
  /** Of the cluster; with it begin the names of its logs. Default `sluice`. */
  readonly name?: string | undefined;
  /** What this node is called. Default: its machine and its port. */
  readonly node?: string | undefined;
  /** Where clients and other nodes reach this one. Default: where it listens. */
  readonly advertise?: string | undefined;
  /** What nodes show each other, and whom they trust. */
  readonly peerTls?: ClientTls | undefined;
  /** Of its server, as `serve` takes them. */
  readonly server?: Omit<ServeOptions, "broker" | "cluster"> | undefined;
  /** Pages of the dashboard that show the node. */
  readonly pages?: ((node: ClusterNode) => ServeOptions["pages"]) | undefined;
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
  /** Resolves when another process has taken its name, or a thread of its server has failed. */
  readonly failed: Promise<SluiceError>;
  /** Gives its partitions to the others, and ends. */
  close(): Promise<void>;
}

/** What a node has where its data is. */
export interface NodeStorage {
  readonly node: ClusterNode;
  readonly failed: Promise<SluiceError>;
  readonly place: string;
  readonly durability: () => Promise<string>;
  /** Before it gives its partitions away. */
  readonly beforeLeave?: () => void;
  /** When nothing uses it any more. */
  readonly close: () => Promise<void>;
}

/** Serves the node, and joins the cluster. When that fails everything is closed. */
export async function runServedNode(
  options: NodeServerOptions,
  storage: NodeStorage,
): Promise<ServedNode> {
  const { server: own = {}, advertise, pages } = options;
  const { node, failed, place, beforeLeave } = storage;
  const joined = Promise.withResolvers<Broker>();
  joined.promise.catch(() => {});
  const hasKeys = own.keys !== undefined && own.keys !== false;
  const server = await serve({
    ...own,
    broker: joined.promise,
    cluster: node,
    pages: pages?.(node) ?? own.pages,
    allowHosts: allowedHosts(advertise, own.allowHosts, hasKeys),
  });
  const close = async (): Promise<void> => {
    beforeLeave?.();
    await node.leave({ timeout: LEAVE_MS });
    await server.close();
    await node.stop();
    await storage.close();
  };
  const { address } = server;
  try {
    joined.resolve(await node.start(advertisedAddress(advertise, own.host, address)));
    const durability = await storage.durability();
    const broker = joined.promise;
    const either = Promise.race([failed, server.failed]);
    return { address, place, durability, node, broker, server, failed: either, close };
  } catch (error) {
    joined.reject(error);
    await close();
    throw error;
  }
}
