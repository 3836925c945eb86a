import { cases, onQueue } from "./case.ts";
import { bytes, check, equal, matches } from "./check.ts";
import { PROMPT } from "./scene.ts";

export const telling = cases("events", {
  "two who ask for the next event at once get one each, in order": async (scene) => {
    const events = scene.broker.events({ events: ["queue"] });
    const asked = [events.next(), events.next(), events.next()];
    await scene.queue({}, "one");
    await scene.queue({}, "two");
    for (const [i, queue] of ["one", "two"].entries()) {
      const next = await scene.atOnce(asked[i]!, `event ${i}`);
      equal(next.value?.event === "queue" && next.value.queue, queue, `event ${i}`);
    }
    await events.return?.();
    const last = await scene.atOnce(asked[2]!, "the one who still waits");
    equal(last.done, true, "whether it is over for the one who still waits");
  },

  "the life of a job is reported in order": async (scene) => {
    await scene.queue({ retry: PROMPT });
    const listener = await scene.listen({ queue: "q" });
    const id = await scene.add("x");
    await scene.nack(await scene.takeOne("q", { worker: "bob" }), { error: "boom" });
    await scene.broker.giveBack([(await scene.takeOne()).lease]);
    await scene.ack(await scene.takeOne(), bytes("42"));
    const ended = await listener.hears("ended", "the end");
    const life = ["added", "leased", "retried", "leased", "returned", "leased", "ended"];
    equal(listener.names, life, "what was reported");
    const first = { queue: "q", id, worker: "bob", attempt: 0 };
    matches(listener.heard[1], first, "the first dispatch");
    matches(listener.heard[2], { id, attempt: 1, error: "boom" }, "the failure");
    matches(ended, { id, queue: "q", state: "finished", result: bytes("42") }, "the end");
    for (const [i, { at }] of listener.heard.entries()) {
      check(at >= (listener.heard[i - 1]?.at ?? at), "times of events must not go back");
    }
  },

  "a death is reported with the queue that the job is in then": onQueue(async (scene) => {
    const listener = await scene.listen({ events: ["dead"] });
    const id = await scene.bury("x");
    const dead = await listener.hears("dead", "the death");
    matches(dead, { queue: "q", id, dlq: "q.dlq", error: "boom" }, "the death");
  }),

  "progress is reported": onQueue(async (scene) => {
    const listener = await scene.listen({ events: ["progress"] });
    const id = await scene.add("x");
    const { lease } = await scene.takeOne();
    await scene.broker.progress([{ lease, progress: { done: 3 } }]);
    const told = await listener.hears("progress", "the progress");
    matches(told, { queue: "q", id, progress: { done: 3 } }, "the progress");
  }),

  "a job that expires is reported to have ended": onQueue(async (scene) => {
    const listener = await scene.listen({ events: ["ended"] });
    const id = await scene.add("x", { ttlMs: scene.steps(2) });
    await scene.pass(3);
    const ended = await listener.hears("ended", "the end");
    matches(ended, { id, state: "expired" }, "the end");
  }),

  "changes of queues and gates are reported": async (scene) => {
    const listener = await scene.listen();
    await scene.queue();
    await scene.broker.setGate("smtp", { concurrency: 1 });
    await scene.broker.cooldown("smtp", scene.steps(5), "429");
    await scene.broker.deleteQueue("q");
    matches(await listener.hears("queue", "the new queue"), { queue: "q" }, "the new queue");
    matches(await listener.hears("gate", "the new gate"), { gate: "smtp" }, "the new gate");
    const cooled = await listener.hears("cooled", "the cooldown");
    matches(cooled, { gate: "smtp", reason: "429" }, "the cooldown");
    const deleted = await listener.hears("queue-deleted", "the deleted queue");
    equal(deleted.queue, "q", "the deleted queue");
    equal(listener.names, ["queue", "gate", "cooled", "queue-deleted"], "what was reported");
  },

  "a reader hears what it asked for, and nothing else": onQueue(async (scene) => {
    await scene.queue({}, "other");
    const queue = await scene.listen({ queue: "other" });
    const kind = await scene.listen({ events: ["added"] });
    const both = await scene.listen({ queue: "other", events: ["ended"] });
    await scene.add("x");
    await scene.ack(await scene.takeOne());
    await scene.add("y", {}, "other");
    await scene.ack(await scene.takeOne("other"));
    await queue.hears("ended", "the end in the other queue");
    await both.hears("ended", "the end in the other queue");
    equal(queue.names, ["added", "leased", "ended"], "what the reader of a queue heard");
    equal(kind.names, ["added", "added"], "what the reader of one kind heard");
    equal(both.names, ["ended"], "what the reader of one kind in one queue heard");
  }),

  "a reader hears only what happens from then on": onQueue(async (scene) => {
    await scene.add("before");
    const listener = await scene.listen();
    const id = await scene.add("after");
    matches(await listener.hears("added", "the add"), { id }, "the first that it hears");
  }),

  "two readers hear the same, and one may leave": onQueue(async (scene) => {
    const stays = await scene.listen();
    const leaves = await scene.listen();
    await scene.add("a");
    await stays.hears("added", "the first add");
    await leaves.hears("added", "the first add");
    await leaves.leave();
    await scene.until(() => leaves.isOver, "the reader that left must be over");
    await scene.add("b");
    await scene.until(() => stays.heard.length === 2, "the other reader must hear the second add");
    equal(leaves.heard.length, 1, "what the one that left heard");
  }),
});
