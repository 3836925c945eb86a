// Saved seeds: what once broke runs again in every run. One seed a line, and what it showed after
// a #.

import { readFileSync } from "node:fs";

export function readSeeds(file: string): number[] {
  return readFileSync(new URL(`../seeds/${file}`, import.meta.url), "utf8")
    .split("\n")
    .map((line) => line.replace(/#.*/, "").trim())
    .filter((line) => line !== "")
    .map((line) => {
      const seed = Number(line);
      if (!Number.isSafeInteger(seed)) throw new Error(`seeds/${file}: ${line} is no seed`);
      return seed;
    });
}
