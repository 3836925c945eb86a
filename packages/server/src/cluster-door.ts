/** What the server of a cluster node needs from the node, which runs the partitions. */
import type { Broker, ClusterStatus } from "@sluice/protocol";
import type { OwnPart } from "./health.ts";
import type { KeyPeers } from "./keys/key-ring.ts";
import type { ServerSocket } from "./stream/session.ts";
import type { Admitted } from "./stream/sessions.ts";

/** Who the holder of a key is to a partition; refuses with UNAUTHORIZED. */
export type Admit = (apiKey: string | undefined, port: Broker) => Admitted;

export interface ClusterDoor {
  /** What nodes show each other. A caller that has it may use partitions as they are. */
  readonly secret: Promise<string>;
  /** Keys are the same on every node. */
  readonly keys: KeyPeers;
  /**
   * Takes a stream to one partition. When another node has it, a stream that may be relayed is
   * passed on to that one, for a client that does not reach it; others are refused with MOVED.
   */
  accept(partition: number, socket: ServerSocket, admit: Admit, mayRelay: boolean): void;
  /** What this node answers for itself, whatever becomes of the partitions of others. */
  own(): OwnPart;
  /** The partitions that this node serves, as one broker; undefined: it has them all. */
  ownBroker(): Broker | undefined;
  /** Of the fullest log that this node serves, from 0 to 1. */
  storageUsed(): number;
  /** The cluster as this node knows it. */
  status(): ClusterStatus;
  /** Calls back when owners, nodes or placements have changed; the answer ends that. */
  onChange(listener: () => void): () => void;
  /** Asks a node to give its partitions to the others. */
  drain(node: string): Promise<void>;
}
