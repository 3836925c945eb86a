import { cases, onQueue } from "./case.ts";
import { equal, rejects } from "./check.ts";

const ONCE = { operationId: "once" };

/** Calls that are not the same done twice: a client makes them again when a connection is lost. */
export const repeatingRare = cases("operation ids of rare calls", {
  "a write that is made again does not undo a later one": async (scene) => {
    const write = () => scene.broker.storeWrite("s", [{ key: "k", value: 1 }], ONCE);
    await write();
    await scene.broker.storeWrite("s", [{ key: "k", value: 2 }]);
    await write();
    equal(await scene.broker.storeGet("s", ["k"]), [2], "what is stored");
  },

  "a numbered operation is answered again until its source says a higher number": onQueue(
    async (scene) => {
      const add = (number: number, payload: string) =>
        scene.broker.add("q", [{ payload: new TextEncoder().encode(payload) }], {
          operationId: `numbered:relay:${number}`,
        });
      const first = await add(7, "a");
      equal(await add(7, "a"), first, "the answer again");
      await rejects(add(7, "b"), "CONFLICT", "another payload");
      await add(8, "b");
      await rejects(add(7, "a"), "CONFLICT", "a number that is over");
      equal((await scene.broker.queue("q")).stats.waiting, 2, "the jobs that wait");
    },
  ),

  "a purge or a deletion that is made again leaves later jobs alone": onQueue(async (scene) => {
    await scene.addAll(["a"]);
    await scene.broker.purge("q", { operationId: "purge" });
    await scene.addAll(["b"]);
    await scene.broker.purge("q", { operationId: "purge" });
    equal((await scene.broker.queue("q")).stats.waiting, 1, "the jobs that wait");
    await scene.broker.deleteQueue("q", ONCE);
    await scene.queue();
    await scene.addAll(["c"]);
    await scene.broker.deleteQueue("q", ONCE);
    await scene.expect(["c"], "the jobs that there are");
  }),

  "a redrive that is made again puts back no more, and answers the same": onQueue(async (scene) => {
    for (const payload of ["a", "b", "c"]) await scene.bury(payload);
    const redrive = () => scene.broker.redrive("q.dlq", { count: 1, ...ONCE });
    equal(await redrive(), 1, "how many were put back");
    equal(await redrive(), 1, "the answer again");
    await scene.expect(["b", "c"], "what is still dead", "q.dlq");
  }),

  "a retry and a cancel by key that are made again answer the same": onQueue(async (scene) => {
    const id = await scene.add("a", { dedupe: { key: "k", mode: "pending" } });
    const cancel = () => scene.broker.cancelByKey("q", ["k"], { operationId: "cancel" });
    equal(await cancel(), [{ ok: true }], "the first cancel");
    equal(await cancel(), [{ ok: true }], "the answer again");
    const first = await scene.broker.retry([id], ONCE);
    equal(await scene.broker.retry([id], ONCE), first, "the answer again");
  }),

  "a report to a gate that is made again counts once": async (scene) => {
    await scene.broker.setGate("gate", { ladder: [1000, 5000] });
    await scene.broker.reportGate("gate", false, ONCE);
    const after = (await scene.broker.gate("gate")).cooldown?.until;
    await scene.broker.reportGate("gate", false, ONCE);
    equal((await scene.broker.gate("gate")).cooldown?.until, after, "until when it cools down");
  },

  "a call that says something else under the same operation id is refused": onQueue(
    async (scene) => {
      await scene.broker.setGate("gate", { ladder: [1000] });
      const { broker } = scene;
      await broker.storeWrite("s", [{ key: "k", value: 1 }], { operationId: "write" });
      const write = broker.storeWrite("s", [{ key: "k", value: 2 }], { operationId: "write" });
      await rejects(write, "CONFLICT", "another value");
      await broker.cancelByKey("q", ["k"], { operationId: "cancel" });
      const cancel = broker.cancelByKey("q", ["l"], { operationId: "cancel" });
      await rejects(cancel, "CONFLICT", "another key");
      await broker.reportGate("gate", true, { operationId: "report" });
      const report = broker.reportGate("gate", false, { operationId: "report" });
      await rejects(report, "CONFLICT", "another report");
    },
  ),

  "another call under the same operation id is refused": onQueue(async (scene) => {
    await scene.broker.storeWrite("s", [{ key: "k", value: 1 }], ONCE);
    await rejects(scene.broker.storeWrite("t", [], ONCE), "CONFLICT", "a write to another store");
    await rejects(scene.broker.purge("q", ONCE), "CONFLICT", "a purge");
    await rejects(scene.broker.purge("q", { operationId: "" }), "INVALID", "an empty id");
  }),
});
