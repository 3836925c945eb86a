/** The limits of gates are in every partition, as the home of each gate has them. */
import { isDeepStrictEqual } from "node:util";
import {
  type Broker,
  type GateSettings,
  PAGE_MAX,
  type PageStart,
  walkPages,
} from "@sluice/protocol";

/** The limits that a partition has for keys and patterns that are at home in `home`. */
export async function readGates(
  broker: Broker,
  isOfHome: (key: string) => boolean,
): Promise<Map<string, GateSettings>> {
  const found = new Map<string, GateSettings>();
  const ask = (from: PageStart) => broker.gates({ configured: true, limit: PAGE_MAX, ...from });
  for await (const { key, config, pattern } of walkPages(ask)) {
    if (config !== undefined && pattern === undefined && isOfHome(key)) found.set(key, config);
  }
  return found;
}

/**
 * Makes the limits of a partition like those of a home; answers how many were not. New limits come
 * to a partition before the home has them: so those that the home lacks are doubted at first, and
 * deleted when they were doubted before.
 */
export async function alignGates(
  wanted: ReadonlyMap<string, GateSettings>,
  to: Broker,
  isOfHome: (key: string) => boolean,
  doubted: Set<string>,
): Promise<number> {
  const there = await readGates(to, isOfHome);
  let changes = 0;
  for (const [key, config] of wanted) {
    if (isDeepStrictEqual(there.get(key), config)) continue;
    await to.setGate(key, config);
    changes++;
  }
  for (const key of there.keys()) {
    if (wanted.has(key)) doubted.delete(key);
    else {
      changes++;
      if (!doubted.delete(key)) doubted.add(key);
      else await to.deleteGate(key);
    }
  }
  return changes;
}
