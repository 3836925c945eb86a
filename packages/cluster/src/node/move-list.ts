/** The latest changes of owners, for people; and how many partitions this node got, and how. */
import { type Clock, type Gained, wallTime } from "@sluice/protocol";
import { MOVES_KEPT } from "../limits.ts";
import { isSame, type NodeName, type OwnerEntry } from "./entries.ts";

/** A partition has got another owner. */
export interface Move {
  readonly partition: number;
  readonly from: string;
  readonly to: string;
  readonly epoch: number;
  /** Handed over, or taken from a node that was gone. */
  readonly isHandedOver: boolean;
  /** Wall time at which this node heard of it. */
  readonly at: number;
}

export class MoveList {
  readonly #clock: Clock;
  readonly #self: NodeName;
  readonly #moves: Move[] = [];
  /** By partition: of the last change that was noted. */
  readonly #epochs = new Map<number, number>();
  readonly #gained = { takeovers: 0, handovers: 0, givenUp: 0 };

  constructor(clock: Clock, self: NodeName) {
    this.#clock = clock;
    this.#self = self;
  }

  /** The latest last. */
  all(): readonly Move[] {
    return this.#moves;
  }

  /** Partitions that this node got from others since it started. */
  gained(): Gained {
    return { ...this.#gained };
  }

  /** The entry of a partition was read: it may be the one that is known. */
  note(partition: number, entry: OwnerEntry | undefined): void {
    if (entry === undefined || entry.node === "") return;
    const { node: to, epoch, from = "", isHandedOver = false } = entry;
    if (epoch === this.#epochs.get(partition)) return;
    this.#epochs.set(partition, epoch);
    if (from === to) return;
    if (from !== "" && isSame(entry, this.#self)) this.#gained[howOf(entry)]++;
    this.#moves.push({ partition, from, to, epoch, isHandedOver, at: wallTime(this.#clock) });
    if (this.#moves.length > MOVES_KEPT) this.#moves.shift();
  }
}

function howOf({ isHandedOver, isGivenUp }: OwnerEntry): keyof Gained {
  if (isGivenUp === true) return "givenUp";
  return isHandedOver === true ? "handovers" : "takeovers";
}
