/** A cluster as one of its nodes knows it. */

export interface ClusterStatus {
  readonly name: string;
  /** The node that answers. */
  readonly self: string;
  /** Another one for every change; of this node alone. */
  readonly version: string;
  /** Whether the node that answers hears the others; if not, the rest may be out of date. */
  readonly isHearing: boolean;
  readonly partitionCount: number;
  /** How many there were at first: names of queues are divided over these. Absent: all. */
  readonly homeCount?: number | undefined;
  /** Which part of its storage the fullest log of the node that answers uses, from 0 to 1. */
  readonly storageUsed: number;
  /** The connection of the node that answers; absent where there is no NATS. */
  readonly nats?: NatsInfo | undefined;
  readonly nodes: readonly ClusterNodeInfo[];
  readonly partitions: readonly PartitionInfo[];
  /** Queues that are elsewhere than at home, or spread. */
  readonly placements: readonly QueuePlacement[];
  /** The latest last, as far as this node has seen them. */
  readonly moves: readonly MoveInfo[];
  /** Partitions that the node that answers got from other nodes since it started. */
  readonly gained: Gained;
}

export interface QueuePlacement {
  readonly queue: string;
  readonly partitions: readonly number[];
  /** Those that take new jobs; absent: all. */
  readonly adds?: readonly number[] | undefined;
  /** The partition that the queue moves to. */
  readonly to?: number | undefined;
}

/** How often, by the way in which a partition came. */
export interface Gained {
  /** From a node that was gone. */
  readonly takeovers: number;
  /** From a node that left or shared its partitions. */
  readonly handovers: number;
  /** From a node whose log confirmed nothing. */
  readonly givenUp: number;
}

export interface NatsInfo {
  /** The name of the server; of the last one while there is none. */
  readonly server: string;
  readonly isConnected: boolean;
  /** Since when it is connected, or is not. */
  readonly since: number;
  readonly reconnects: number;
  /** The last thing that went wrong with the connection. */
  readonly error?: string | undefined;
}

export interface ClusterNodeInfo {
  readonly id: string;
  readonly address: string;
  readonly version: string;
  readonly startedAt: number;
  readonly isAlive: boolean;
  readonly isDraining: boolean;
  readonly silentFor: number;
  /** The NATS server that it is connected to, as it last said. */
  readonly nats?: string | undefined;
  readonly owned: number;
}

export interface PartitionInfo {
  readonly partition: number;
  /** Absent while no node owns it. */
  readonly owner?: string | undefined;
  readonly address?: string | undefined;
  readonly epoch: number;
  readonly state: string;
  /** To whom it is about to go. */
  readonly next?: string | undefined;
  readonly lag: number;
  readonly jobs: number;
  readonly openedIn: number;
  /** The NATS server that leads its stream. */
  readonly leader?: string | undefined;
  /** Why it is not served, or what went wrong with it last. */
  readonly error?: string | undefined;
}

export interface MoveInfo {
  readonly partition: number;
  readonly from: string;
  readonly to: string;
  readonly epoch: number;
  readonly isHandedOver: boolean;
  readonly at: number;
}
