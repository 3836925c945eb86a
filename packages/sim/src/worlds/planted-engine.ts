// Bugs to plant into a copy of the engine: the worlds must find each of them, or they are blind.
//
// A bug replaces one short piece of the engine's text. `within` is the text after which the piece
// is looked for, so that the pieces can be short and stay right while the code around them changes.

import type { PlantedBug } from "../plant.ts";
import type { Kind } from "./plan.ts";

export interface EngineBug extends PlantedBug {
  // The kind of world that shows it soonest.
  readonly kind?: Kind;
}

// The claim keeps its places for as long as a gate of this kind is shut.
const keepsPlaces = (part: "windows" | "spacings"): EngineBug => ({
  file: "gates/kept-permits.ts",
  find: "if (at > now + IDLE_MS) {",
  put: `if (at > now + IDLE_MS && claim.gates.some((gate) => gate.${part} !== undefined)) {
      this.#joinNear(claim);
      if (this.#keep(claim, PLACE, now)) this.#hold(claim, ~0, now);
      return at;
    }
    if (at > now + IDLE_MS) {`,
  kind: "places",
});

export const PLANTED_IN_ENGINE: Readonly<Record<string, EngineBug>> = {
  "a dead letter that fails again ends": {
    file: "verbs/fail.ts",
    find: "if (isLetter(core, row)) return retryIn(core, row, failure, options.delayMs, now);",
    put: "",
    seed: 17,
  },
  "a dead letter that fails goes to the back": {
    file: "verbs/fail.ts",
    find: "if (isDead) putBackInPlace(core, row, until, now);",
    put: "if (until < 0) putBackInPlace(core, row, until, now);",
    seed: 56,
  },
  "a release does not look at its gate": {
    file: "gates/line.ts",
    within: "release(set: GateSet",
    find: "this.look(gate)",
    put: "void 0",
    seed: 7,
  },
  "a new head is not looked at": {
    file: "gates/line.ts",
    within: "if (state === OFFERED) this.withdraw(gate);",
    find: "this.look(gate);",
    put: "",
    seed: 45,
    kind: "oneGate",
  },
  "a cancelled candidate keeps its offer": {
    file: "gates/line.ts",
    find: "if (state === OFFERED) this.withdraw(gate);",
    put: "",
    seed: 16,
  },
  "an offer stays with a queue that lost its workers": {
    file: "gates/line.ts",
    within: "workChanged(queue: QueueState)",
    find: "this.look(gate);",
    put: "void 0;",
    seed: 109,
  },
  "who was passed over does not come back": {
    file: "gates/line.ts",
    find: "this.#w.rings.activate(entry);",
    put: "void 0;",
    seed: 4,
  },
  "a change of limits loses the timer of its gate": {
    file: "gates/line.ts",
    within: "changed(gate: GateLine)",
    find: "this.look(gate)",
    put: "this.#w.gates.noWake(gate)",
    seed: 4,
  },
  "a new claim is not looked at": {
    file: "gates/kept-permits.ts",
    find: "this.#lookAt(claim, now);",
    put: "void 0;",
    seed: 294,
  },
  "a weaker signal shortens a cooldown": {
    file: "gates/gate-state.ts",
    find: "|| until <= this.cooldownUntil",
    put: "",
    seed: 5,
  },
  "a window counts jobs and not their cost": {
    file: "gates/windows.ts",
    find: "this.#add(cost,",
    put: "this.#add(Math.min(cost, 1),",
    seed: 5,
  },
  "a stale lease is accepted": {
    file: "core.ts",
    find: "ints[at + LEASE] === lease",
    put: "ints[at + LEASE]! >= 0",
    seed: 5,
  },
  "an expired lease counts no attempt": {
    file: "verbs/fail.ts",
    within: "function fail(",
    find: "(attempts & 0xffff) + 1",
    put: '(attempts & 0xffff) + (event === "expired" ? 0 : 1)',
    seed: 4,
  },
  "a retried job goes to the front": {
    file: "verbs/fail.ts",
    find: "else start(core, row, now);",
    put: "else enterStrand(core, row, now, true);",
    seed: 6,
  },
  "a queue takes one job too many": {
    file: "queues/capacity.ts",
    find: "queue.waiting < jobs",
    put: "queue.waiting <= jobs",
    seed: 48,
  },
  "newcomers starve the round": {
    file: "ring/ring.ts",
    find: "m[r + LAST_WAS_FRESH] === 0",
    put: "true",
    seed: 6,
  },
  "some lanes are not charged": {
    file: "verbs/dispatch.ts",
    find: "rings.charge(lane, cost);",
    put: "if (lane % 2 === 0) rings.charge(lane, cost);",
    seed: 6,
  },
  "a delay is a millisecond short": {
    file: "core.ts",
    find: "now + spec.delayMs",
    put: "now + spec.delayMs - 1",
    seed: 3,
  },
  "a cancelled job keeps its dedupe key": {
    file: "verbs/end.ts",
    find: "if (extra.dedupe !== 0)",
    put: 'if (extra.dedupe !== 0 && ending !== "cancelled")',
    seed: 60,
  },
  "a group ends before its last member": {
    file: "jobs/group.ts",
    find: "group.open === 0",
    put: "group.open <= 1",
    seed: 2,
  },
  "claims ignore windows": keepsPlaces("windows"),
  "claims ignore intervals": keepsPlaces("spacings"),
  "claims are never dropped": {
    file: "gates/kept-permits.ts",
    find: "if (free !== 0 && isSoon && leftMs > 0) {",
    put: `if (free !== 0) {
      this.#hold(claim, free, now);
      return Number.POSITIVE_INFINITY;`,
    kind: "places",
    seed: 71,
  },
};
