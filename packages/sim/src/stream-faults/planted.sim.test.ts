// Bugs that must be found: a harness that is blind to them would be blind to others.

import { test } from "node:test";
import { hunt, type PlantedBug, plant } from "../plant.ts";
import { type Ends, runStreamWorld } from "./world.ts";

const SEEDS_MAX = 10;

interface StreamBug {
  readonly name: string;
  readonly end: "client" | "server";
  readonly away?: boolean;
  readonly bug: PlantedBug;
}

const PLANTED: readonly StreamBug[] = [
  {
    name: "what was not answered is not said again in a new session",
    end: "client",
    bug: {
      file: "operations.ts",
      within: "repeat(): void {",
      find: "else this.#repeat(pending);",
      put: "",
    },
  },
  {
    name: "a consumer that joins again asks for all its credits again",
    end: "client",
    bug: {
      file: "remote-consumer.ts",
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
      file: "operations.ts",
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
      file: "operations.ts",
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
      file: "remote-broker.ts",
      within: "async add(",
      find: "operationId = this.operationId() } = options",
      put: "} = options; const operationId = this.operationId()",
    },
  },
  {
    name: "an add loses the name of its operation on the way",
    end: "server",
    bug: { file: "requests.ts", within: "#add(reader", find: "...named, ", put: "" },
  },
];

async function endsWith({ end, bug }: StreamBug): Promise<Partial<Ends>> {
  return end === "client"
    ? plant("@sluice/client", bug, "remote/index.ts")
    : plant("@sluice/server", bug, "stream/sessions.ts");
}

for (const planted of PLANTED) {
  test(`found: ${planted.name}`, async (t) => {
    const ends = await endsWith(planted);
    const options = { crashes: true, away: planted.away };
    const found = await hunt(
      1,
      SEEDS_MAX,
      async (seed) => (await runStreamWorld({ seed, ends, ...options })).failures[0],
      async (seed) => (await runStreamWorld({ seed, ...options })).failures[0],
    );
    t.diagnostic(found);
  });
}
