// Bugs in how permits are kept for jobs with several gates, to plant into a copy of the engine. The
// worlds must find each of them: for a long time none of them looked at places that idle.

import type { PlantedBug } from "../bugs/planted.ts";

// The claim keeps its places for as long as a gate of this kind is shut.
const keepsPlaces = (part: "windows" | "spacings"): PlantedBug => ({
  file: "gates/kept-permits.ts",
  within: "  #lookAt(claim: Claim",
  find: "if (at > now + IDLE_MS) {",
  put: `if (at > now + IDLE_MS && claim.gates.some((gate) => gate.${part} !== undefined)) {
      this.#joinNear(claim);
      if (this.#keep(claim, PLACE, now)) this.#hold(claim, ~0, now);
      return at;
    }
    if (at > now + IDLE_MS) {`,
  seed: 1,
});

export const PLANTED_CLAIMS: Readonly<Record<string, PlantedBug>> = {
  "claims ignore windows": keepsPlaces("windows"),
  "claims ignore intervals": keepsPlaces("spacings"),
  "claims are never dropped": {
    file: "gates/kept-permits.ts",
    within: "  #wait(claim: Claim",
    find: "if (free !== 0 && isSoon && leftMs > 0) {",
    put: `if (free !== 0) {
      this.#hold(claim, free, now);
      return Number.POSITIVE_INFINITY;`,
    seed: 1,
  },
};
