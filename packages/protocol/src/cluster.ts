/** A cluster as one of its nodes knows it. */

export interface ClusterStatus {
  readonly name: string;
  /** The node that answers. */
  readonly self: string;
  /** Another one for every change; of this node alone. */
  readonly version: string;
  readonly partitionCount: number;
  readonly nodes: readonly ClusterNodeInfo[];
  readonly partitions: readonly PartitionInfo[];
  /** Queues that are elsewhere than at home, or spread. */
  readonly placements: readonly { queue: string; partitions: readonly number[] }[];
  /** The latest last, as far as this node has seen them. */
  readonly moves: readonly MoveInfo[];
}

export interface ClusterNodeInfo {
  readonly id: string;
  readonly address: string;
  readonly version: string;
  readonly startedAt: number;
  readonly isAlive: boolean;
  readonly isDraining: boolean;
  readonly silentFor: number;
  readonly owned: number;
}

export interface PartitionInfo {
  readonly partition: number;
  /** Absent while nobody has it. */
  readonly owner?: string | undefined;
  readonly address?: string | undefined;
  readonly epoch: number;
  readonly state: string;
  /** To whom it is about to go. */
  readonly next?: string | undefined;
  readonly lag: number;
  readonly jobs: number;
  readonly openedIn: number;
}

export interface MoveInfo {
  readonly partition: number;
  readonly from: string;
  readonly to: string;
  readonly epoch: number;
  readonly isHandedOver: boolean;
  readonly at: number;
}
