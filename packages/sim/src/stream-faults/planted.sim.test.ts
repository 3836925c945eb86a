// Bugs of either end that the worlds of streams must find.

import { findPlanted, type PlantedBug, type Planting } from "../plant.ts";
import { type Ends, runStreamWorld } from "./world.ts";

const SEEDS_MAX = 10;
const CLIENT: Planting = { name: "@sluice/client", entry: "remote/index.ts" };
const SERVER: Planting = { name: "@sluice/server", entry: "stream/sessions.ts" };

interface StreamBug extends PlantedBug {
  readonly end: Planting;
  readonly away?: boolean;
}

const PLANTED: Readonly<Record<string, StreamBug>> = {
  "what was not answered is not said again in a new session": {
    end: CLIENT,
    file: "operations.ts",
    find: "else this.#repeat(pending);",
    put: "",
  },
  "a consumer that joins again asks for all its credits again": {
    end: CLIENT,
    file: "remote-consumer.ts",
    find: "credits: this.#credits",
    put: "credits: options.credits",
  },
  "an add that was withdrawn is sent after all": {
    end: CLIENT,
    away: true,
    file: "operations.ts",
    find: "else this.#remove(operation, pending);",
    put: "",
  },
  "an add that was sent is said to have no effect": {
    end: CLIENT,
    away: true,
    file: "operations.ts",
    find: "return isSent ?",
    put: "return false ?",
  },
  "an add that timed out is repeated under another name": {
    end: CLIENT,
    away: true,
    file: "remote-broker.ts",
    within: "async add(",
    find: "operationId = this.operationId() } = options",
    put: "} = options; const operationId = this.operationId()",
    seed: 5,
  },
  "an add loses the name of its operation on the way": {
    end: SERVER,
    file: "requests.ts",
    find: "...named, ",
    put: "",
  },
};

findPlanted<Partial<Ends>, StreamBug>(
  PLANTED,
  SEEDS_MAX,
  ({ end }) => end,
  async (seed, { away }, ends) =>
    (await runStreamWorld({ seed, ends, crashes: true, away })).failure,
);
