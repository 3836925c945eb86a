// Bugs that must be found: a harness that is blind to them would be blind to others.

import assert from "node:assert/strict";
import { test } from "node:test";
import { type PlantedBug, plant } from "../planting/plant.ts";
import { type Ends, runWorld } from "./world.ts";

const SEEDS_MAX = 10;

interface Planted {
  readonly name: string;
  readonly end: "client" | "server";
  readonly away?: boolean;
  readonly bug: PlantedBug;
}

const PLANTED: readonly Planted[] = [
  {
    name: "what was not answered is not said again in a new session",
    end: "client",
    bug: {
      file: "remote/operations.ts",
      within: "repeat(): void {",
      find: "else this.#repeat(pending);",
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
    name: "an add that was withdrawn is sent after all",
    end: "client",
    away: true,
    bug: {
      file: "remote/operations.ts",
      within: "#giveUp(operation: number",
      find: "else this.#remove(operation, pending);",
      put: "",
    },
  },
  {
    name: "an add that was sent is said to have no effect",
    end: "client",
    away: true,
    bug: {
      file: "remote/operations.ts",
      within: "#late({",
      find: "return isSent ?",
      put: "return false ?",
    },
  },
  {
    name: "an add that timed out is repeated under another name",
    end: "client",
    away: true,
    bug: {
      file: "remote/remote-broker.ts",
      within: "async add(",
      find: "operationId = this.operationId() } = options",
      put: "} = options; const operationId = this.operationId()",
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
      const { failures } = await runWorld({ seed, crashes: true, away: planted.away, ends });
      if (failures.length > 0) return;
    }
    assert.fail(`not found in ${SEEDS_MAX} worlds`);
  });
}
