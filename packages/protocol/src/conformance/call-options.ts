import type { Broker, CallOptions } from "../port.ts";
import { cases, onQueue } from "./case.ts";
import { accepted, bytes, each, equal, rejects, textOf } from "./check.ts";
import type { Scene } from "./scene.ts";

type Calls = Readonly<Record<string, (broker: Broker, call: CallOptions) => Promise<unknown>>>;

/** Every call that is bounded, each with what it needs to go through. */
const CALLS: Calls = {
  add: (broker, call) => broker.add("q", [{ payload: bytes("x") }], call),
  lease: (broker, call) => broker.lease("q", { max: 1, ...call }),
  ack: (broker, call) => broker.ack([], call),
  nack: (broker, call) => broker.nack([], call),
  giveBack: (broker, call) => broker.giveBack([], call),
  extend: (broker, call) => broker.extend([], call),
  progress: (broker, call) => broker.progress([], call),
  recordStep: (broker, call) => broker.recordStep([], call),
  suspend: (broker, call) => broker.suspend([], call),
  chargeGate: (broker, call) => broker.chargeGate("gate", 1, call),
  cancel: (broker, call) => broker.cancel([], call),
  cancelByKey: (broker, call) => broker.cancelByKey("q", [], call),
  retry: (broker, call) => broker.retry([], call),
  lives: (broker, call) => broker.lives([], call),
  queuesOf: (broker, call) => broker.queuesOf([], call),
  jobs: (broker, call) => broker.jobs("q", call),
  releaseGroups: (broker, call) => broker.releaseGroups([], call),
  setQueue: (broker, call) => broker.setQueue("other", {}, call),
  queue: (broker, call) => broker.queue("q", call),
  queues: (broker, call) => broker.queues(call),
  purge: (broker, call) => broker.purge("q", call),
  lanes: (broker, call) => broker.lanes("q", call),
  setLaneWeight: (broker, call) => broker.setLaneWeight("q", "lane", 2, call),
  workers: (broker, call) => broker.workers("q", call),
  setGate: (broker, call) => broker.setGate("gate", { rate: 1 }, call),
  gate: (broker, call) => broker.gate("gate", call),
  gates: (broker, call) => broker.gates(call),
  cooldown: (broker, call) => broker.cooldown("gate", 1, "reason", call),
  clearCooldown: (broker, call) => broker.clearCooldown("gate", call),
  reportGate: (broker, call) => broker.reportGate("gate", true, call),
  deleteGate: (broker, call) => broker.deleteGate("gate", call),
  storeGet: (broker, call) => broker.storeGet("s", ["k"], call),
  storeWrite: (broker, call) => broker.storeWrite("s", [{ key: "k", value: 1 }], call),
  storeScan: (broker, call) => broker.storeScan("s", call),
  stats: (broker, call) => broker.stats(call),
};

/** The queue is full, so that the next add waits. */
async function full(scene: Scene): Promise<void> {
  await scene.queue({ capacity: { jobs: 1 }, onFull: "wait", addTimeout: scene.steps(900) });
  await scene.add("a");
}

export const bounding = cases("call options", {
  "a call whose signal is aborted already is refused with ABORTED, and does nothing": async (
    scene,
  ) => {
    await scene.queue();
    for (const [name, call] of Object.entries(CALLS)) {
      await rejects(call(scene.broker, { signal: AbortSignal.abort() }), "ABORTED", name);
    }
    const id = await scene.add("x");
    const signal = AbortSignal.abort();
    for (const name of ["job", "why", "history", "ended"] as const) {
      await rejects(scene.broker[name](id, { signal }), "ABORTED", name);
    }
    await rejects(scene.broker.deleteQueue("q", { signal }), "ABORTED", "deleteQueue");
    equal(each((await scene.broker.queues()).items, "name"), ["q"], "the queues");
    equal((await scene.broker.queue("q")).stats.added, 1, "the jobs that were added");
    equal(await scene.broker.storeGet("s", ["k"]), [undefined], "what is stored");
  },

  "a time and a signal that are not needed change nothing": onQueue(async (scene) => {
    const { signal } = new AbortController();
    for (const [name, call] of Object.entries(CALLS)) {
      const answer = call(scene.broker, { signal, timeout: 60_000 });
      await scene.atOnce(answer, name);
    }
  }),

  "a time that is no number of milliseconds is refused": onQueue(async (scene) => {
    for (const timeout of [-1, Number.NaN, "5" as "5s"]) {
      await rejects(scene.broker.queues({ timeout }), "INVALID", `a time of ${timeout}`);
    }
  }),

  "an argument or an option that the table of calls does not have is refused by its name": onQueue(
    async ({ broker }) => {
      const refused = async (answer: Promise<unknown>, field: string): Promise<void> => {
        const { details } = await rejects(answer, "INVALID", field);
        equal(details?.field, field, "the field that the error names");
      };
      await refused(broker.queues({ bogus: 1 } as never), "options.bogus");
      await refused(broker.lanes("q", { operationId: "x" } as never), "options.operationId");
      await refused(broker.lanes("q", { limit: null } as never), "limit");
      await refused(broker.gates({ sort: "size" } as never), "sort");
      await refused(broker.reportGate("gate", "yes" as never), "ok");
      await refused(broker.cooldown("gate", "soon" as never), "duration");
      await refused(broker.cooldown("gate", 1, 5 as never), "reason");
    },
  ),

  "an add that is over its time ends with TIMEOUT, and adds nothing later": async (scene) => {
    await full(scene);
    const options = { timeout: scene.steps(2), operationId: "once" };
    const add = scene.broker.add("q", [{ payload: bytes("b") }], options);
    await scene.waits(add, "an add to a full queue");
    await scene.pass(4);
    const error = await rejects(add, "TIMEOUT", "the add");
    equal(error.details?.operationId, "once", "the operation id that the error carries");
    await scene.takeOne();
    await scene.settle();
    await scene.expect([], "what there is when there is room");
  },

  "an add that timed out and is repeated under its operation id adds one job": async (scene) => {
    await full(scene);
    const options = { timeout: scene.steps(2), operationId: "once" };
    const jobs = [{ payload: bytes("b") }];
    const add = scene.broker.add("q", jobs, options);
    await scene.waits(add, "an add to a full queue");
    await scene.pass(4);
    await rejects(add, "TIMEOUT", "the add");
    await scene.takeOne();
    const again = (): Promise<unknown> => scene.broker.add("q", jobs, { operationId: "once" });
    const first = await again();
    accepted((first as never[])[0], "the add that was repeated");
    equal(await again(), first, "the answer when it is repeated once more");
    await scene.expect(["b"], "what there is");
  },

  "a poll that is over its time ends with TIMEOUT, and takes no job with it": onQueue(
    async (scene) => {
      const options = { max: 1, wait: scene.steps(500), timeout: scene.steps(2) };
      const poll = scene.broker.lease("q", options);
      await scene.waits(poll, "the poll");
      await scene.pass(4);
      await rejects(poll, "TIMEOUT", "the poll");
      await scene.add("x");
      const job = await scene.takeOne();
      equal([textOf(job), job.attempt], ["x", 0], "the job that came after");
    },
  ),

  "waiting for a job to end is over after its time, and leaves the job alone": onQueue(
    async (scene) => {
      const id = await scene.add("x");
      const ended = scene.broker.ended(id, { timeout: scene.steps(2) });
      await scene.waits(ended, "the wait");
      await scene.pass(4);
      await rejects(ended, "TIMEOUT", "the wait");
      await scene.expect(["x"], "what there is");
    },
  ),
});
