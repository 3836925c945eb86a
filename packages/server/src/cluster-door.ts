/** A node of a cluster, as its server sees it: what it needs of whoever runs the partitions. */
import type { Broker, ClusterStatus } from "@sluice/protocol";
import type { OwnPart } from "./health.ts";
import type { KeyPeers } from "./keys/key-ring.ts";
import type { ServerSocket } from "./stream/session.ts";
import type { Admitted } from "./stream/sessions.ts";

/** Who the holder of a key is to a partition; refuses with UNAUTHORIZED. */
export type Admit = (apiKey: string | undefined, port: Broker) => Admitted;

export interface ClusterDoor {
  /** What nodes show each other: whoever has it may use partitions as they are. */
  readonly secret: Promise<string>;
  /** Keys are the same on every node. */
  readonly keys: KeyPeers;
  /** Takes a stream to one partition, or refuses it with MOVED when another node has it. */
  accept(partition: number, socket: ServerSocket, admit: Admit): void;
  /** What this node answers for itself, whatever becomes of the partitions of others. */
  own(): OwnPart;
  /** The cluster as this node knows it. */
  status(): ClusterStatus;
  /** Calls back when owners, nodes or placements have changed; the answer ends that. */
  onChange(listener: () => void): () => void;
  /** Asks a node to give its partitions to the others. */
  drain(node: string): Promise<void>;
}
