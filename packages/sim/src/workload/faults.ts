// What goes wrong around the broker: crashes, a disk that takes its time, a clock that is wrong.

import type { Broker } from "../broker/broker.ts";
import type { Random } from "../worlds/random.ts";
import type { Fault, Plan } from "./plan.ts";
import type { Team } from "./team.ts";

const PAUSES_MS: Readonly<Record<Fault, readonly [number, number]>> = {
  crash: [60_000, 1_500_000],
  ahead: [600_000, 4_000_000],
  back: [300_000, 2_000_000],
  still: [300_000, 2_000_000],
  slowSync: [200_000, 2_000_000],
};

export class Faults {
  isStopped = false;
  readonly #broker: Broker;
  readonly #random: Random;
  readonly #team: Team;
  readonly #faults: readonly Fault[];

  constructor(broker: Broker, random: Random, plan: Plan, team: Team) {
    this.#broker = broker;
    this.#random = random;
    this.#team = team;
    this.#faults = plan.faults;
  }

  start(): void {
    for (const fault of this.#faults) this.#plan(fault);
  }

  #plan(fault: Fault): void {
    const [least, most] = PAUSES_MS[fault];
    this.#broker.parts.agenda.in(this.#random.between(least, most), () => {
      if (this.isStopped) return;
      this.#broker.parts.trace.add(this.#broker.now, "fault", fault);
      this.#strike(fault);
      this.#plan(fault);
    });
  }

  #strike(fault: Fault): void {
    const { clock, disk, agenda } = this.#broker.parts;
    const random = this.#random;
    if (fault === "crash") return this.#crash();
    if (fault === "slowSync") {
      const most = random.pick([50, 500, 5_000]);
      disk.latencyMs = [most / 2, most];
      return agenda.in(random.between(1_000, 60_000), () => {
        disk.latencyMs = [1, 4];
      });
    }
    if (fault === "still") {
      clock.freeze();
      agenda.in(random.between(10, 30_000), () => this.#thaw());
    } else if (fault === "back") clock.step(-random.between(1, 30_000));
    else clock.step(random.between(1_000, 3 * 3_600_000));
    this.#broker.setTimer();
  }

  #thaw(): void {
    this.#broker.parts.clock.thaw();
    this.#broker.setTimer();
  }

  // Mostly just after something was written, when there is most to lose.
  #crash(): void {
    const { agenda, disk } = this.#broker.parts;
    const random = this.#random;
    if (random.chance(0.3)) this.#broker.remember();
    if (random.chance(0.3)) return this.#restart();
    disk.whenWritten(() => agenda.in(random.between(0, 3), () => this.#restart()));
  }

  // Often twice in a row: the second finds what the first has just rebuilt.
  #restart(): void {
    if (this.isStopped) return;
    this.#broker.crash();
    this.#team.reconnect();
    if (this.#random.chance(0.3)) {
      this.#broker.parts.agenda.in(this.#random.between(0, 300), () => this.#restart());
    }
  }

  heal(): void {
    this.isStopped = true;
    this.#broker.parts.disk.latencyMs = [1, 4];
    this.#broker.parts.clock.heal(this.#broker.now);
    this.#broker.setTimer();
  }
}
