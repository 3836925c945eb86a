// The saved worlds: what once broke runs again in every run. One seed a line, and what it showed
// after a #.

import { readFileSync } from "node:fs";

const SAVED = new URL("../../seeds/broker.txt", import.meta.url);

export function savedSeeds(): number[] {
  return readFileSync(SAVED, "utf8")
    .split("\n")
    .map((line) => line.replace(/#.*/, "").trim())
    .filter((line) => line !== "")
    .map((line) => {
      const seed = Number(line);
      if (!Number.isSafeInteger(seed)) throw new Error(`seeds/broker.txt: ${line} is no seed`);
      return seed;
    });
}
