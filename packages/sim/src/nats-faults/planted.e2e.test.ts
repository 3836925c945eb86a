// Bugs that a log in NATS must not have, found on real servers of which one has kept another
// history.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { connectNats, NatsLog } from "@sluice/log/nats";
import { findPlanted, type PlantedBug } from "../plant.ts";
import { DividedHistory, type NatsCode } from "./divided-history.ts";

// JetStream puts a reader on any of three servers.
const READS_MAX = 20;
const CODE: NatsCode = { NatsLog, connectNats };

interface DividedBug extends PlantedBug {
  readonly read: "withOtherLeader" | "withOtherFollower";
}

const PLANTED: Readonly<Record<string, DividedBug>> = {
  "a log is read without a look at its chain": {
    read: "withOtherLeader",
    file: "messages/chain.ts",
    find: "if (stated === this.#value) return;",
    put: "if (stated !== undefined) return;",
  },
  "a log is read from a follower": {
    read: "withOtherFollower",
    file: "nats/feed.ts",
    find: "leaderOf(info) === cluster?.leader",
    put: "leaderOf(info) !== undefined || cluster === undefined",
  },
};

let history: DividedHistory;
before(async () => {
  history = await DividedHistory.make();
});
after(() => history?.stop());

test("a leader with another history is refused, a follower with one does no harm", async () => {
  assert.equal(await history.withOtherLeader(CODE), undefined);
  for (let i = 0; i < READS_MAX; i++)
    assert.equal(await history.withOtherFollower(CODE), undefined);
});

findPlanted<NatsCode, DividedBug>(
  PLANTED,
  READS_MAX,
  { name: "@sluice/log", entry: "nats/index.ts" },
  (_seed, { read }, code = CODE) => history[read](code),
);
