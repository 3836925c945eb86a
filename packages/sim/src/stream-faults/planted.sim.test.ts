// Bugs that must be found: a harness that is blind to them would be blind to others.

import assert from "node:assert/strict";
import { test } from "node:test";
import { type PlantedBug, plant } from "../planting/plant.ts";
import { type Ends, runWorld } from "./world.ts";

const SEEDS_MAX = 10;

interface Planted {
  readonly name: string;
  readonly end: "client" | "server";
  readonly bug: PlantedBug;
}

const PLANTED: readonly Planted[] = [
  {
    name: "what was not answered is not said again in a new session",
    end: "client",
    bug: {
      file: "remote/operations.ts",
      within: "repeat(): void {",
      find: "this.#channel.repeat(frame);",
      put: "",
    },
  },
  {
    name: "a consumer that joins again asks for all its credits again",
    end: "client",
    bug: {
      file: "remote/remote-consumer.ts",
      within: "join(): void {",
      find: "credits: this.#credits",
      put: "credits: options.credits",
    },
  },
  {
    name: "an add loses the name of its operation on the way",
    end: "server",
    bug: { file: "stream/requests.ts", within: "#add(reader", find: "...named, ", put: "" },
  },
];

async function endsWith({ end, bug }: Planted): Promise<Partial<Ends>> {
  return end === "client"
    ? plant("@sluice/client", ["@sluice/protocol"], bug, "remote/index.ts")
    : plant("@sluice/server", ["@sluice/protocol"], bug, "stream/sessions.ts");
}

for (const planted of PLANTED) {
  test(`found: ${planted.name}`, async () => {
    const ends = await endsWith(planted);
    for (let seed = 1; seed <= SEEDS_MAX; seed++) {
      const { failures } = await runWorld({ seed, crashes: true, ends });
      if (failures.length > 0) return;
    }
    assert.fail(`not found in ${SEEDS_MAX} worlds`);
  });
}
