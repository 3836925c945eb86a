import type { EngineOptions, GateNews } from "@sluice/engine";
import { HomeLink, type SharingParts } from "./home-link.ts";
import { LendAnswers } from "./lend-answers.ts";
import type { Homes } from "./port.ts";

/** Tells the engine which shared gates have their home in another partition. */
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

  /** A poll begins. It ends when the returned function is called. */
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

/** The side of a partition that borrows: one link to each other partition. */
class HomeLinks {
  readonly #w: SharingParts;
  readonly #links = new Map<string, HomeLink>();

  constructor(world: SharingParts) {
    this.#w = world;
    for (const home of world.homes.others) this.#links.set(home, new HomeLink(world, home));
  }

  /** Tells all homes what this partition holds, which they know from before it was opened. */
  begin(): void {
    for (const link of this.#links.values()) link.begin();
  }

  /** Passes on what has changed. */
  look(): void {
    const { engine, homes } = this.#w;
    if (engine.borrower.hasNews) {
      for (const gate of engine.borrower.takeNoted())
        this.#links.get(homes.homeOf(gate))?.note(gate);
    }
    for (const news of engine.lender.takeNews()) this.#tell(news);
    for (const link of this.#links.values()) link.look();
  }

  /** Results for a ladder go to the gate's home; a cooldown goes to all, even without jobs. */
  #tell(news: GateNews): void {
    if ("isOk" in news) this.#links.get(this.#w.homes.homeOf(news.gate))?.tell(news);
    else for (const link of this.#links.values()) link.tell(news);
  }

  /** While a poll waits, requests ask homes what they can lend now. */
  press(isPressing: boolean): void {
    for (const link of this.#links.values()) link.isPressing = isPressing;
  }

  /** Resolves when one of the homes that are asked has answered; undefined: none is. */
  pressed(): Promise<void> | undefined {
    const asked = [...this.#links.values()].flatMap((link) => link.pressed() ?? []);
    return asked.length === 0 ? undefined : Promise.race(asked);
  }

  stop(): void {
    for (const link of this.#links.values()) link.stop();
  }
}
