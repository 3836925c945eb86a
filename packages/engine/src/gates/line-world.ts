import type { JobTable } from "../jobs/job-table.ts";
import type { Lot } from "../lending/ledger.ts";
import type { QueueState } from "../queues/queue-state.ts";
import type { Lanes } from "../ring/lanes.ts";
import type { Rings } from "../ring/ring.ts";
import type { GateLine, GateSet } from "./gate-line.ts";
import type { GateTable } from "./gate-table.ts";
import type { LineTree } from "./line-tree.ts";

/** What the lines of gates act on. */
export interface LineWorld {
  readonly rings: Rings;
  readonly lanes: Lanes;
  readonly lineTree: LineTree;
  readonly gates: GateTable;
  readonly jobs: JobTable;
  readonly queues: (QueueState | undefined)[];
  /** Facts are being applied: nothing is decided. */
  readonly isReplaying: boolean;
  /** The strand of a lane for a set of gates, made when it is not there. */
  strandOf(lane: number, set: GateSet): number;
  /** A lane of this tier is ready: the queue may have something to dispatch. */
  wake(queue: QueueState, tier: number): void;
  /** A borrower gets permits of a gate. */
  lend(gate: GateLine, borrower: string, cost: number, jobs: number, tier: number): void;
  lotExpired(gate: GateLine, lot: Lot): void;
  /** A waiting job's gate opens later than the job would wait. */
  failWait(row: number, id: number, gate: GateLine): void;
}

/** What claims and balances ask of the lines. */
export interface LineCalls {
  costOf(strand: number): number;
  tierOf(strand: number): number;
  queueOf(strand: number): QueueState;
  ready(strand: number): void;
  join(seat: number, gate: GateLine): void;
  leave(seat: number, gate: GateLine): void;
  look(gate: GateLine): void;
  changed(gate: GateLine): void;
}
