import { readSeeds } from "../saved-seeds.ts";

export function savedSeeds(): number[] {
  return readSeeds("broker.txt");
}
