/**
 * What partitions that share gates say to each other. A gate has one home; the others borrow lots
 * of permits from it, over calls of `lend`, one side asking and the other answering.
 *
 * A call may be lost, be doubled, come late or out of order. Each carries the lives of both ends
 * and a number that rises, and a home takes in only what is newer than what it has heard. What a
 * borrower says is how things stand with it, never what has changed, so that saying it again does
 * no harm; it says it until it was heard.
 *
 * No two clocks are compared. A lot is good for a time that begins when its borrower asked, which
 * was before it was lent; the home counts the same time, and some more, from when it was.
 */
import type { BorrowerWord, GateNews } from "@sluice/engine";

export interface LendRequest {
  readonly borrower: string;
  /** How often a process has opened the borrower. */
  readonly life: number;
  /** That of the home, as last heard; 0: never. */
  readonly homeLife: number;
  readonly seq: number;
  /** All that there is to say: the borrower runs no job of a gate that is not in it. */
  readonly isAll: boolean;
  /** A poll waits for what can be lent now: the home answers at once, if need be with nothing. */
  readonly isPressing?: boolean | undefined;
  readonly words: readonly BorrowerWord[];
  readonly news: readonly GateNews[];
}

export interface LendAnswer {
  readonly life: number;
  /** False: nothing of it was taken in. The borrower says all it has to say again. */
  readonly isHeard: boolean;
  readonly grants: readonly Grant[];
  /** Lots that have expired at home, of which the borrower has said nothing. */
  readonly missing: readonly { readonly gate: string; readonly lot: number }[];
  /** The home has something more to say, now or later: ask again. */
  readonly isDealing: boolean;
}

export interface Grant {
  readonly gate: string;
  readonly lot: number;
  readonly cost: number;
  readonly jobs: number;
  readonly tier: number;
  /** How long it is good for, from when the call that this answers was made. */
  readonly forMs: number;
}

/** Where the homes of gates are, and how they are reached. */
export interface Homes {
  /** How this partition is called. */
  readonly name: string;
  readonly others: readonly string[];
  /** The home partition of a gate. It is the same for all partitions and never changes. */
  homeOf(gate: string): string;
  /** Calls `lend` of another partition. */
  lend(home: string, request: LendRequest): Promise<LendAnswer>;
}
