// A broker with a bug in it, or in the engine below it.

import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type PlantedBug, plant, replaceOnce } from "../planting/plant.ts";
import type { BrokerModule } from "./partition.ts";

const USES = ["@sluice/protocol", "@sluice/engine", "@sluice/log"];

export interface PlantedGateBug extends PlantedBug {
  readonly in: "engine" | "broker";
  // A world that shows it.
  readonly seed: number;
}

export async function plantBroker(bug: PlantedGateBug): Promise<BrokerModule> {
  if (bug.in === "broker") return plant("@sluice/broker", USES, bug);
  const engine = mkdtempSync(join(tmpdir(), "sluice-planted-engine-"));
  try {
    const source = dirname(dirname(fileURLToPath(import.meta.resolve("@sluice/engine"))));
    cpSync(join(source, "src"), join(engine, "src"), { recursive: true });
    cpSync(join(source, "package.json"), join(engine, "package.json"));
    const file = join(engine, "src", bug.file);
    writeFileSync(file, replaceOnce(readFileSync(file, "utf8"), bug));
    return await plant("@sluice/broker", USES, undefined, "index.ts", { "@sluice/engine": engine });
  } finally {
    rmSync(engine, { recursive: true, force: true });
  }
}
