import { type PlantedBug, plant } from "../planting/plant.ts";
import type { BrokerModule } from "./life.ts";

export type PlantedBrokerBug = PlantedBug;

export function plantBroker(bug: PlantedBrokerBug): Promise<BrokerModule> {
  return plant("@sluice/broker", ["@sluice/protocol", "@sluice/engine", "@sluice/log"], bug);
}
