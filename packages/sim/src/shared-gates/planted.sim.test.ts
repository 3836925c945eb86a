// Bugs that the worlds of shared gates must find.

import type { BrokerModule } from "../broker-faults/life.ts";
import { findPlanted, type PlantedBug } from "../plant.ts";
import { runSharedGates } from "./world.ts";

const SEEDS_MAX = 40;

const PLANTED: Readonly<Record<string, PlantedBug>> = {
  "a lot that expired is refunded": {
    in: "@sluice/engine",
    seed: 12,
    file: "gates/gate-state.ts",
    find: "this.#repay(0, lot.cost - lot.usedCost, now);",
    put: "this.#repay(lot.cost - lot.usedCost, 0, now);",
  },
  "a lot is good for a time that begins when it arrives": {
    seed: 20,
    file: "lending/home-link.ts",
    find: "until: call.askedAt + forMs",
    put: "until: clock.now() + forMs",
  },
  "what a lost call said is not said again": {
    seed: 165,
    file: "lending/home-link.ts",
    find: "for (const gate of call.gates) this.#entryOf(gate).isDue = true;",
    put: "for (const gate of call.gates) this.#entries.delete(gate);",
  },
  "a bucket fills up to its size though tokens are out": {
    in: "@sluice/engine",
    seed: 2,
    file: "gates/token-bucket.ts",
    find: "this.burst = this.size - lent;",
    put: "this.burst = this.size;",
  },
  "windows do not count what is lent": {
    in: "@sluice/engine",
    seed: 3,
    file: "gates/gate-state.ts",
    find: "this.windows.lent += lot.cost;",
    put: "this.windows.lent += 0;",
  },
  "what is not durable is reported": {
    seed: 885,
    file: "lending/home-link.ts",
    find: "if (this.#isMaking) await journal.durable();",
    put: "",
  },
  "two permits of an interval are out at a time": {
    in: "@sluice/engine",
    seed: 11,
    file: "gates/gate-state.ts",
    find: "if (this.spacings !== undefined) return false;",
    put: "",
  },
  "a home takes in what is older than what it has heard": {
    seed: 16,
    file: "lending/lend-answers.ts",
    find: "seq <= known.seq",
    put: "seq < 0",
  },
  "a lease that ran out while the log stood still is delivered": {
    seed: 1569,
    file: "consumers.ts",
    find: "if (held.expiresAt <= now) {",
    put: "if (held.expiresAt < 0) {",
  },
  "the place of an interval is kept without end for a job that lacks a borrowed permit": {
    in: "@sluice/engine",
    seed: 912,
    file: "gates/kept-permits.ts",
    find: "!hasPlaces(gate) && !isKeepingOver",
    put: "!hasPlaces(gate)",
  },
  "partitions borrow the permits of a job in any order": {
    in: "@sluice/engine",
    seed: 398,
    file: "gates/kept-permits.ts",
    find: "claim.gates.some(isEarlier) ? undefined : claim",
    put: "isEarlier === undefined ? undefined : claim",
  },
  "a lot is announced before it is durable": {
    seed: 250,
    file: "lending/lend-answers.ts",
    find: "await this.#w.journal.durable();",
    put: "",
  },
};

findPlanted<BrokerModule, PlantedBug>(
  PLANTED,
  SEEDS_MAX,
  { name: "@sluice/broker" },
  async (seed, _bug, module) => (await runSharedGates(seed, module)).failure,
);
