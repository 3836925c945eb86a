/** The latest changes of owners, for people. */
import { type Clock, wallTime } from "@sluice/protocol";
import { MOVES_KEPT } from "../limits.ts";
import type { OwnerEntry } from "./entries.ts";

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
  readonly #moves: Move[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The latest last. */
  all(): readonly Move[] {
    return this.#moves;
  }

  note(partition: number, before?: OwnerEntry, after?: OwnerEntry): void {
    if (after === undefined || after.node === "" || after.epoch === before?.epoch) return;
    const { node: to, epoch, from = "", isHandedOver = false } = after;
    if (from === to) return;
    this.#moves.push({ partition, from, to, epoch, isHandedOver, at: wallTime(this.#clock) });
    if (this.#moves.length > MOVES_KEPT) this.#moves.shift();
  }
}
