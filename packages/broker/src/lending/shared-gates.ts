import type { EngineOptions } from "@sluice/engine";
import type { SharingParts } from "./home-link.ts";
import { HomeLinks } from "./home-links.ts";
import { LendAnswers } from "./lend-answers.ts";
import type { Homes } from "./port.ts";

/** What the engine is told when gates are shared: which of them are at home elsewhere. */
export function sharing(homes: Homes | undefined): Pick<EngineOptions, "isBorrowed"> {
  if (homes === undefined) return {};
  return { isBorrowed: (gate) => homes.homeOf(gate) !== homes.name };
}

/** Both sides of a partition that shares its gates with others. */
export class SharedGates {
  readonly lender: LendAnswers;
  readonly #borrower: HomeLinks;
  readonly #w: SharingParts;
  #polls = 0;

  constructor(of: Omit<SharingParts, "homes" | "wake">, homes: Homes, wake: () => void) {
    const { engine, journal, clock } = of;
    this.#w = { engine, journal, clock, homes, wake };
    this.lender = new LendAnswers(this.#w);
    this.#borrower = new HomeLinks(this.#w);
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
