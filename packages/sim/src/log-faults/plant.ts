import { type PlantedBug, plant } from "../planting/plant.ts";
import type { LogModule } from "./life.ts";

export type PlantedLogBug = PlantedBug;

export function plantLog(bug: PlantedLogBug): Promise<LogModule> {
  return plant("@sluice/log", ["@sluice/protocol"], bug);
}
