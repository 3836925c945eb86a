import type { Broker } from "../port.ts";
import { cases, onQueue } from "./case.ts";
import { bytes, check, equal, rejects } from "./check.ts";

/** Every call of the port that is answered with a promise. */
const CALLS: Readonly<Record<string, (broker: Broker) => Promise<unknown>>> = {
  add: (broker) => broker.add("q", [{ payload: bytes("x") }]),
  lease: (broker) => broker.lease("q", { max: 1 }),
  consume: (broker) => broker.consume("q", { worker: "w", credits: 1 }, () => {}),
  ack: (broker) => broker.ack([{ lease: "x" }]),
  nack: (broker) => broker.nack([{ lease: "x" }]),
  giveBack: (broker) => broker.giveBack(["x"]),
  extend: (broker) => broker.extend([{ lease: "x", leaseMs: 1 }]),
  progress: (broker) => broker.progress([{ lease: "x", progress: 1 }]),
  recordStep: (broker) => broker.recordStep([{ lease: "x", name: "s", occurrence: 0 }]),
  suspend: (broker) => broker.suspend([{ lease: "x", name: "", occurrence: 0, kind: "sleep" }]),
  steps: (broker) => broker.steps("x"),
  signal: (broker) => broker.signal("x", "s"),
  chargeGate: (broker) => broker.chargeGate("g", 1),
  cancel: (broker) => broker.cancel(["x"]),
  cancelByKey: (broker) => broker.cancelByKey("q", ["k"]),
  retry: (broker) => broker.retry(["x"]),
  lives: (broker) => broker.lives(["x"]),
  job: (broker) => broker.job("x"),
  why: (broker) => broker.why("x"),
  history: (broker) => broker.history("x"),
  queuesOf: (broker) => broker.queuesOf(["x"]),
  ended: (broker) => broker.ended("x"),
  jobs: (broker) => broker.jobs("q"),
  group: (broker) => broker.group("q/g"),
  setQueue: (broker) => broker.setQueue("q", {}),
  deleteQueue: (broker) => broker.deleteQueue("q"),
  queue: (broker) => broker.queue("q"),
  queues: (broker) => broker.queues(),
  purge: (broker) => broker.purge("q"),
  redrive: (broker) => broker.redrive("q"),
  lanes: (broker) => broker.lanes("q"),
  setLaneWeight: (broker) => broker.setLaneWeight("q", "a", 1),
  workers: (broker) => broker.workers("q"),
  setGate: (broker) => broker.setGate("g", {}),
  deleteGate: (broker) => broker.deleteGate("g"),
  gate: (broker) => broker.gate("g"),
  gates: (broker) => broker.gates(),
  cooldown: (broker) => broker.cooldown("g", 1),
  clearCooldown: (broker) => broker.clearCooldown("g"),
  reportGate: (broker) => broker.reportGate("g", true),
  storeGet: (broker) => broker.storeGet("s", ["k"]),
  storeWrite: (broker) => broker.storeWrite("s", [{ key: "k", value: 1 }]),
  storeScan: (broker) => broker.storeScan("s"),
  stats: (broker) => broker.stats(),
};

export const closing = cases("close", {
  "every later call is refused with CLOSED": onQueue(async (scene) => {
    await scene.broker.close();
    for (const [name, call] of Object.entries(CALLS)) {
      await rejects(call(scene.broker), "CLOSED", name);
    }
  }),

  "a poll that waits comes to an end": onQueue(async (scene) => {
    const poll = scene.broker.lease("q", { max: 1, wait: scene.steps(50) });
    await scene.waits(poll, "the poll");
    const end = poll.then(
      (jobs) => jobs.length === 0,
      (error) => error.code === "CLOSED",
    );
    await scene.broker.close();
    check(await scene.atOnce(end, "the poll"), "it must end with nothing, or with CLOSED");
  }),

  "an add that waits for room comes to an end": async (scene) => {
    await scene.queue({ capacity: { jobs: 1 }, onFull: "wait", addTimeout: scene.steps(50) });
    await scene.add("a");
    const add = scene.broker.add("q", [{ payload: bytes("b") }]);
    await scene.waits(add, "the add");
    const end = add.then(
      ([outcome]) => outcome?.error?.code,
      (error) => error.code,
    );
    await scene.broker.close();
    equal(await scene.atOnce(end, "the add"), "CLOSED", "the code it ends with");
  },

  "a caller that waits for the end of a job is informed that the broker closed": onQueue(
    async (scene) => {
      const end = scene.broker.ended(await scene.add("x"));
      await scene.waits(end, "the end");
      const refusal = rejects(end, "CLOSED", "the end");
      await scene.broker.close();
      await scene.atOnce(refusal, "the end");
    },
  ),

  "consumers and readers of events are over": onQueue(async (scene) => {
    const inbox = await scene.consume();
    const listener = await scene.listen();
    await scene.broker.close();
    await scene.atOnce(inbox.consumer.over, "the consumer's end");
    await scene.until(() => listener.isOver, "the reader of events must be over");
    equal(listener.error, undefined, "the error that the reader ended with");
  }),

  "a broker can be closed twice": async (scene) => {
    await scene.broker.close();
    await scene.broker.close();
  },
});
