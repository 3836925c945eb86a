import { readFileSync } from "node:fs";

/** Of this very program, for those who look at a cluster in the middle of an upgrade. */
export const VERSION: string = JSON.parse(
  readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
).version;
