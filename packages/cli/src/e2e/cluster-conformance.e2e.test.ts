import { after, before, describe, type TestContext, test } from "node:test";
import { connectBroker } from "@sluice/client/remote";
import { type Broker, toSluiceError } from "@sluice/protocol";
import { brokerConformance, type Opened } from "@sluice/protocol/conformance";
import { TestCluster } from "../testing/cluster.ts";
import { PostgresCluster } from "../testing/postgres-cluster.ts";

type AnyCluster = Pick<TestCluster, "urls">;

// Real time passes here, and all cases share one cluster: so only cases that end in a moment, and
// nothing that a deleted queue leaves behind. All the others run on a fake clock, over the same
// router and the same ports.
const SUBJECTS = [
  "add|dedupe|cancelByKey|cancel|lease|ack|extend, giveBack, progress|nack|dead letters|redrive",
  "retry|job, history, ended|jobs|why|groups|setQueue|deleteQueue, purge|lanes",
  "gates: concurrency|gates: limits|gates: cooldown|fairness|tiers|job options: place",
];
const ABOUT = new RegExp(`^a cluster: (?:${SUBJECTS.join("|")}): `);
// These need a second cluster, a queue that was never surveyed, a gate that was never passed.
const LEFT_OUT = /never issued|guessed token|stats tell when|until when: interval/;
const STEP_MS = 400;
const SLACK_MS = 350;
const SETTLE_MS = 40;
const CASE_MS_MAX = 60_000;

const PLACES = [
  ["on NATS", TestCluster],
  ["in PostgreSQL", PostgresCluster],
] as const;
// The nodes are the same in both places, and 85 s are long: PostgreSQL's turn is in the soak.
const places = process.env.CONFORMANCE === "all" ? PLACES : PLACES.slice(0, 1);

for (const [place, kind] of places) {
  describe(`the port, at any node of a cluster ${place}`, () => conforms(kind));
}

function conforms(kind: { start(t: Pick<TestContext, "after">): Promise<AnyCluster> }): void {
  let cluster: AnyCluster;
  const ends: (() => unknown)[] = [];
  before(async () => {
    cluster = await kind.start({ after: (end) => void ends.push(end as () => unknown) });
  });
  after(async () => {
    for (const end of ends) await end();
  });

  let turn = 0;
  const open = async (): Promise<Opened> => {
    const urls = cluster.urls;
    const broker = await connectBroker(urls[turn++ % urls.length]!);
    await clear(broker);
    return {
      broker,
      now: () => Date.now(),
      advance: (ms) => new Promise((resolve) => setTimeout(resolve, ms + SETTLE_MS)),
      close: () => broker.close(),
      stepMs: STEP_MS,
      slackMs: SLACK_MS,
    };
  };
  brokerConformance("a cluster", open, (sentence, run) => {
    if (!ABOUT.test(sentence) || LEFT_OUT.test(sentence)) return undefined;
    return test(sentence, { timeout: CASE_MS_MAX }, run);
  });
}

// As if it were new.
async function clear(broker: Broker): Promise<void> {
  // Dead letter queues go with those that they belong to, or after them.
  for (let tries = 0; tries < 3; tries++) {
    for (const { name } of (await broker.queues()).items) {
      await broker.deleteQueue(name).catch((error) => {
        if (toSluiceError(error).code !== "QUEUE_NOT_FOUND" && tries === 2) throw error;
      });
    }
  }
  const { items } = await broker.gates({ limit: 1_000 });
  for (const { key } of items) {
    if (!key.endsWith("*")) await broker.clearCooldown(key);
    await broker.deleteGate(key).catch((error) => {
      // It was only cooled down, or has gone with its pattern.
      if (toSluiceError(error).code !== "GATE_NOT_FOUND") throw error;
    });
  }
}
