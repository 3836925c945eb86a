export { type RunEnd, type RunOptions, runSeed } from "./run/run.ts";
