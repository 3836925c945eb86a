import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type LocalBroker, openBroker } from "@sluice/broker";
import type { FakeClock } from "@sluice/client";
import { reachBroker } from "@sluice/client/remote";
import { MemoryLog } from "@sluice/log";
import { type Broker, type LeasedJob, SluiceError } from "@sluice/protocol";
import { turningClock } from "@sluice/protocol/testing";
import type { Socket } from "@sluice/protocol/wire";
import { RESUME_MS } from "../limits.ts";
import { socketPair } from "../testing/socket-pair.ts";
import { ServedPartitions } from "./served-partitions.ts";

const payload = new TextEncoder().encode("x");
const QUEUE = { lease: 60_000, retry: { attempts: 3, min: 0, max: 0 } } as const;

interface Scene {
  readonly clock: FakeClock;
  readonly broker: LocalBroker;
  /** The router of a node, which passes on what its clients ask for. */
  readonly router: Broker;
  readonly partitions: ServedPartitions;
  /** The node is gone without a word. */
  die(): void;
}

async function scene(t: TestContext): Promise<Scene> {
  const clock = turningClock(20);
  const broker = await openBroker({ log: new MemoryLog(), clock });
  await broker.setQueue("q", QUEUE);
  const partitions = new ServedPartitions({ clock });
  partitions.serve(0, broker);
  const sockets: Socket[] = [];
  let isDead = false;
  const dial = async (): Promise<Socket> => {
    if (isDead) throw new SluiceError("DISCONNECTED", "it is dead");
    const [near, far] = socketPair();
    partitions.accept(0, far, (_key, port) => ({ broker: port, isNode: true }));
    sockets.push(near);
    return near;
  };
  const router = reachBroker({ name: "partition 0", clock, dial });
  t.after(async () => {
    await router.close();
    partitions.withdraw(0);
    await broker.close();
  });
  const die = (): void => {
    isDead = true;
    for (const socket of sockets) socket.close(1006, "dead");
  };
  return { clock, broker, router, partitions, die };
}

async function holdOne({ router, clock }: Scene): Promise<LeasedJob> {
  const held: LeasedJob[] = [];
  await router.consume("q", { worker: "w", credits: 1 }, (jobs) => held.push(...jobs));
  await router.add("q", [{ payload }]);
  await clock.advance(0);
  assert.equal(held.length, 1);
  return held[0]!;
}

async function isStillHeld({ broker, clock }: Scene, { lease }: LeasedJob): Promise<void> {
  await clock.advance(5 * RESUME_MS);
  assert.deepEqual(await broker.lease("q", { max: 1 }), [], "no one else gets the job");
  // The worker continues through another node.
  const leased = lease.replace(/^0-/, "");
  assert.deepEqual(await broker.ack([{ lease: leased }]), [{ ok: true }]);
  const { stats } = await broker.queue("q");
  assert.deepEqual([stats.finished, stats.retried], [1, 0]);
}

test("a node that leaves takes no leases away from the workers that came through it", async (t) => {
  const all = await scene(t);
  const job = await holdOne(all);
  await all.router.close();
  await isStillHeld(all, job);
});

test("a node that dies takes no leases away from the workers that came through it", async (t) => {
  const all = await scene(t);
  const job = await holdOne(all);
  all.die();
  await isStillHeld(all, job);
});

test("jobs on their way to a node that leaves go back at once", async (t) => {
  const all = await scene(t);
  const { router, broker, clock } = all;
  const held: LeasedJob[] = [];
  const options = { worker: "w", credits: 10 };
  const consumer = await router.consume("q", options, (jobs) => held.push(...jobs));
  // They are handed out in the turn in which the worker is sent away and the node begins to leave.
  const adding = broker.add("q", [{ payload }, { payload }]);
  const stopping = consumer.stop();
  const closing = router.close();
  await clock.advance(100);
  await Promise.all([adding, stopping, closing]);
  const { stats } = await broker.queue("q");
  assert.deepEqual([held.length, stats.running, stats.waiting], [0, 0, 2]);
});

test("a session of a node has room for the consumers of all its clients", async (t) => {
  const { router, clock } = await scene(t);
  const consuming = Array.from({ length: 1_500 }, (_, i) =>
    router.consume("q", { worker: `w${i}`, credits: 1 }, () => {}),
  );
  await clock.advance(0);
  assert.equal((await Promise.all(consuming)).length, 1_500);
});
