import type { EngineOptions } from "@sluice/engine";
import { BorrowerDesk, type BorrowerWorld } from "./borrower.ts";
import { LenderDesk } from "./lender.ts";
import type { Homes } from "./port.ts";

/** What the engine is told when gates are shared: which of them are at home elsewhere. */
export function sharing(homes: Homes | undefined): EngineOptions {
  if (homes === undefined) return {};
  return { isBorrowed: (gate) => homes.homeOf(gate) !== homes.name };
}

/** Both sides of a partition that shares its gates with others. */
export class Sharing {
  readonly lender: LenderDesk;
  readonly #borrower: BorrowerDesk;
  readonly #w: BorrowerWorld;
  #polls = 0;

  constructor(of: Omit<BorrowerWorld, "homes" | "wake">, homes: Homes, wake: () => void) {
    const { engine, journal, clock } = of;
    this.#w = { engine, journal, clock, homes, wake };
    this.lender = new LenderDesk(this.#w);
    this.#borrower = new BorrowerDesk(this.#w);
  }

  /** The engine is as the log says. */
  begin(): void {
    this.#w.engine.lender.begin(this.#w.clock.now());
    this.#borrower.begin();
  }

  look(): void {
    this.lender.look();
    this.#borrower.look();
  }

  /** Somebody polls, until the answer is called. */
  press(): () => void {
    if (this.#polls++ === 0) this.#borrower.press(true);
    return () => {
      if (--this.#polls === 0) this.#borrower.press(false);
    };
  }

  /** Resolves when something was heard that was asked for a poll; undefined: nothing is asked. */
  pressed(): Promise<void> | undefined {
    return this.#borrower.pressed();
  }

  stop(): void {
    this.lender.stop();
    this.#borrower.stop();
  }
}
