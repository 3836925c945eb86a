import { IDLE_MS } from "../limits.ts";
import { Decisions } from "./decisions.ts";
import type { GateConfig } from "./gate-state.ts";
import { GateState } from "./gate-state.ts";
import type { MaxWaits } from "./max-waits.ts";

/** A strand with several gates that has had its turn at each gate that kept it. */
export interface Claim {
  readonly strand: number;
  readonly gates: readonly GateLine[];
  readonly tier: number;
  readonly order: number;
  /** When the timed parts of all its gates are open; Infinity while it keeps nothing. */
  at: number;
  /** It is in the `near` lists of its gates: it may keep places. */
  isNear: boolean;
  /** The timed parts of all its gates were open once: the next release of a place goes to it. */
  wasRipe: boolean;
  /** Other jobs may use a timed permit that is back within this time. */
  spareMs: number;
  /** Bit i: the free place of its i-th gate idles for it, since `heldFrom`. */
  held: number;
  heldFrom: number;
  /** Bit i: a place of its i-th gate was free since it was ripe, and went to another job. */
  missed: number;
  /** It lacks a place, or a permit that is borrowed. */
  isLacking: boolean;
  /** Bit i: the untimed parts of its i-th gate are shut, as of the last look. */
  noRoom: number;
  /**
   * It lacks a permit that is borrowed: until then its timed permits are kept. Infinity: it lacks
   * none.
   */
  keptUntil: number;
  isGone: boolean;
}

/** One lane at one gate, while jobs of the lane wait that name this gate and others. */
export interface Balance {
  /** Strands with several gates that wait. */
  readonly strands: number[];
  /** Permits of the lane's jobs with this gate alone, less two for each job with several. */
  lead: number;
  /** The lane's last turn in line was that of a job with this gate alone. */
  isSecondNext: boolean;
}

/** A gate and the strands that wait for it. line.ts and claim.ts explain the fields. */
export class GateLine extends GateState {
  readonly row: number;
  /** The pattern or key that configures it. */
  pattern: string | undefined = undefined;
  /** The set of this gate alone. */
  solo: GateSet | undefined = undefined;
  /** Strands whose gates include this one, through their sets. */
  users = 0;
  /** ENTRY nodes by queue index and tier. */
  readonly entries = new Map<number, number>();
  /** Queues that have an entry. */
  queues = 0;
  /** The ring of entries of each tier; 0 where there is none. */
  readonly lines: number[] = [];
  /** Seats standing in line. */
  inLine = 0;
  /** The cost of all waiting jobs that name it. */
  wanted = 0;
  /** The most urgent tier in the line, as of the last look. */
  topTier = 0;
  /** The strand that has been offered the next permit, 0: none. */
  offer = 0;
  /** Claims that name it, by tier and age. */
  readonly claims: Claim[] = [];
  /** Those of them whose timed permits are there within a second. */
  readonly near: Claim[] = [];
  /** The claim for which permits of this gate are kept. */
  keeper: Claim | undefined = undefined;
  claimKind = 0;
  /** How long its places may still idle before a job with several gates must be dispatched. */
  idleLeftMs = IDLE_MS;
  /** How long one of its places has idled without a break, and that it did. */
  idleMs = 0;
  isIdled = false;
  /** By lane, where jobs with several gates wait; see balance.ts. */
  balances: Map<number, Balance> | undefined = undefined;
  /** Seats that stay out of the line for them, and until when. */
  resting: Map<number, number> | undefined = undefined;
  /** The limits under which they do. */
  restingUnder: GateConfig | undefined = undefined;
  /** The row of the job that took a place last. */
  lastHolder = 0;
  waits: MaxWaits | undefined = undefined;
  /** Waits to be looked at again before the call returns. */
  isDue = false;
  isIdle = false;
  /** Its row may belong to another gate by now: code that still refers to it must not use it. */
  isForgotten = false;
  readonly decisions = new Decisions();
  nextIdle: GateLine | undefined = undefined;

  constructor(key: string, row: number) {
    super(key);
    this.row = row;
  }

  /** How much cost could pass right now. */
  permits(now: number): number {
    if (this.cooldownUntil > now || this.spacings !== undefined) return 0;
    if (this.stock !== undefined) {
      const { cost, jobs } = this.stock.left(0, now);
      return Math.min(cost, jobs);
    }
    let permits = this.places - this.placesTaken;
    const tokens = this.tokens(now);
    if (tokens !== undefined) permits = Math.min(permits, tokens);
    for (const { limit, used } of this.windowUse(now)) permits = Math.min(permits, limit - used);
    return permits;
  }

  /** A borrower waits for permits. */
  get isWanted(): boolean {
    return this.lending !== undefined && this.lending.wants.size > 0;
  }

  /** When the first of those that stay out of the line returns to it. */
  restsUntil(): number {
    for (const until of this.resting!.values()) return until;
    return Number.POSITIVE_INFINITY;
  }

  /** When something of what is lent or borrowed runs out; the gate lends or borrows. */
  lotsExpireAt(): number {
    if (this.stock !== undefined) return this.stock.expiresAt();
    return this.lending!.expiresAt();
  }
}

/** The gates that a strand's jobs name, in order of the gates' rows. Set 0 is the empty one. */
export interface GateSet {
  readonly id: number;
  readonly gates: readonly GateLine[];
  /** The names of the gates, sorted, as in the facts of their jobs. */
  readonly keys: readonly string[];
  entry: number;
  users: number;
}
