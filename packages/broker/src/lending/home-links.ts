import type { GateNews } from "@sluice/engine";
import { HomeLink, type SharingParts } from "./home-link.ts";

/** The side of a partition that borrows: one link to each other partition. */
export class HomeLinks {
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

  /** A ladder is fed at home; of a cooldown everybody hears, whoever has a job for the gate. */
  #tell(news: GateNews): void {
    if ("isOk" in news) this.#links.get(this.#w.homes.homeOf(news.gate))?.tell(news);
    else for (const link of this.#links.values()) link.tell(news);
  }

  /** While somebody polls, homes are asked what they can lend now. */
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
