import type { GatesPage } from "../port.ts";
import { cases, onQueue } from "./case.ts";
import { check, equal, matches, rejects, textOf } from "./check.ts";

export const changing = cases("gates: changes", {
  "new limits count at once, for what waits already": onQueue(async (scene) => {
    const set = await scene.broker.setGate("gate", { concurrency: 1 });
    matches(set, { key: "gate", config: { concurrency: 1 }, inFlight: 0 }, "the answer");
    await scene.addAll(["a", "b", "c"], { gates: ["gate"] });
    const inbox = await scene.consume();
    await inbox.holds(1, "with one place");
    await scene.broker.setGate("gate", { concurrency: 2 });
    await inbox.holds(2, "with two places");
  }),

  "a changed rate keeps the level of the bucket": onQueue(async (scene) => {
    await scene.broker.setGate("gate", { rate: scene.oneEvery(100), burst: 3 });
    await scene.addAll(["a", "b", "c", "d"], { gates: ["gate"] });
    await scene.expect(["a", "b", "c"], "the burst");
    await scene.broker.setGate("gate", { rate: scene.oneEvery(50), burst: 10 });
    await scene.expect([], "what goes out after the change");
    const { tokens = 9 } = await scene.broker.gate("gate");
    check(tokens < 1, `a change must not refill the bucket, it has ${tokens} tokens`);
  }),

  "a deleted gate is open, and what waited for it continues": onQueue(async (scene) => {
    await scene.broker.setGate("gate", { rate: 0 });
    await scene.addAll(["a", "b"], { gates: ["gate"] });
    const inbox = await scene.consume();
    await inbox.holds(0, "while the gate is shut");
    await scene.broker.deleteGate("gate");
    await inbox.holds(2, "when it has been deleted");
    equal((await scene.broker.gate("gate")).config, undefined, "the limits that are left");
  }),

  "a gate that has no limits cannot be deleted": async (scene) => {
    await rejects(scene.broker.deleteGate("nothing"), "GATE_NOT_FOUND", "the call");
  },

  "a pattern sets the limits of all gates that it matches, each its own": onQueue(async (scene) => {
    await scene.broker.setGate("api:*", { concurrency: 1 });
    for (const gate of ["api:a", "api:b", "other"]) {
      await scene.addAll([`${gate} 1`, `${gate} 2`], { gates: [gate], fairnessKey: gate });
    }
    const got = (await scene.take(10)).map(textOf).sort();
    equal(got, ["api:a 1", "api:b 1", "other 1", "other 2"], "what goes out");
    const matched = await scene.broker.gate("api:a");
    equal([matched.pattern, matched.inFlight], ["api:*", 1], "pattern and leases of one gate");
  }),

  "a pattern reaches gates that jobs wait at already": onQueue(async (scene) => {
    await scene.broker.setGate("api:*", { rate: 0 });
    await scene.add("x", { gates: ["api:a"] });
    const inbox = await scene.consume();
    await inbox.holds(0, "while the pattern shuts the gate");
    await scene.broker.deleteGate("api:*");
    await inbox.holds(1, "when the pattern has been deleted");
  }),

  "the longest pattern counts, and the gate's own limits before any": async (scene) => {
    await scene.broker.setGate("api:*", { concurrency: 1 });
    await scene.broker.setGate("api:eu:*", { concurrency: 2 });
    await scene.broker.setGate("api:eu:a", { concurrency: 3 });
    const limitOf = async (key: string) => (await scene.broker.gate(key)).config?.concurrency;
    equal(await limitOf("api:us:a"), 1, "the limit by the short pattern");
    equal(await limitOf("api:eu:b"), 2, "the limit by the long pattern");
    equal(await limitOf("api:eu:a"), 3, "the limit of its own");
    await scene.broker.deleteGate("api:eu:a");
    equal(await limitOf("api:eu:a"), 2, "the limit when its own is gone");
  },

  "gates are listed, with patterns, and with those that only cool down": async (scene) => {
    await scene.broker.setGate("smtp", { concurrency: 1 });
    await scene.broker.setGate("api:*", { concurrency: 2 });
    await scene.broker.cooldown("aws", scene.steps(50), "429");
    const { items: gates, total } = await scene.broker.gates();
    equal(total, 3, "how many there are");
    equal(gates.map(({ key }) => key).sort(), ["api:*", "aws", "smtp"], "the keys");
    const config = gates.find(({ key }) => key === "api:*")?.config;
    equal(config, { concurrency: 2 }, "the limits of the pattern");
    equal(gates.find(({ key }) => key === "aws")?.cooldown?.reason, "429", "the cooldown");
  },

  "gates are listed a page at a time, by key or by who waits": onQueue(async (scene) => {
    await scene.queue({}, "other");
    for (const key of ["a1", "a2", "a3", "b1"]) await scene.broker.cooldown(key, scene.steps(50));
    await scene.add("1", { fairnessKey: "x", gates: ["a3"] });
    await scene.add("2", { fairnessKey: "y", gates: ["a3"] });
    await scene.add("3", { fairnessKey: "x", gates: ["a2"] });
    await scene.add("4", { fairnessKey: "x", gates: ["b1"] }, "other");
    const keysOf = ({ items }: GatesPage) => items.map(({ key }) => key);
    const first = await scene.broker.gates({ search: "A", limit: 2 });
    equal([keysOf(first), first.total], [["a1", "a2"], 3], "the first page");
    const next = await scene.broker.gates({ search: "A", limit: 2, cursor: first.cursor! });
    equal([keysOf(next), next.cursor], [["a3"], undefined], "the last page");
    const busiest = await scene.broker.gates({ sort: "waiting", limit: 1 });
    equal(keysOf(busiest), ["a3"], "where most wait");
    const second = await scene.broker.gates({
      sort: "waiting",
      limit: 2,
      cursor: busiest.cursor!,
    });
    equal(keysOf(second), ["a2", "b1"], "where most wait after it");
    equal(keysOf(await scene.broker.gates({ queue: "q" })), ["a2", "a3"], "of one queue");
    for (const options of [{ limit: 0 }, { sort: "size" as "key" }, { cursor: "no" }]) {
      await rejects(scene.broker.gates(options), "INVALID", JSON.stringify(options));
    }
    await rejects(scene.broker.gates({ queue: "nowhere" }), "QUEUE_NOT_FOUND", "an unknown queue");
  }),

  "a key that cannot be is refused": async (scene) => {
    for (const key of ["", "a b", "a*b", "g".repeat(256)]) {
      const set = scene.broker.setGate(key, { concurrency: 1 });
      await rejects(set, "INVALID", `the key ${JSON.stringify(key.slice(0, 9))}`);
    }
  },
});

export const cooling = cases("gates: cooldown", {
  "a cooldown shuts the gate for its time, with its reason": onQueue(async (scene) => {
    const until = scene.now() + scene.steps(4);
    await scene.broker.cooldown("gate", scene.steps(4), "429 from the provider");
    const info = await scene.broker.gate("gate");
    equal(info.cooldown?.reason, "429 from the provider", "the reason");
    scene.near(info.cooldown?.until, until, "the end of the cooldown");
    scene.near(info.opensAt, until, "when the gate opens");
    await scene.add("x", { gates: ["gate"] });
    await scene.expectAfter(4, ["x"], "what goes out after the cooldown");
    equal((await scene.broker.gate("gate")).cooldown, undefined, "the cooldown afterwards");
  }),

  "a waiting consumer gets the job at the very time the gate opens": onQueue(async (scene) => {
    const until = scene.now() + scene.steps(4);
    await scene.broker.cooldown("gate", scene.steps(4));
    await scene.add("x", { gates: ["gate"] });
    const listener = await scene.listen({ events: ["leased"] });
    const inbox = await scene.consume();
    await scene.pass(6);
    await inbox.holds(1, "when the gate has opened");
    scene.near((await listener.hears("leased", "the dispatch")).at, until, "the dispatch");
  }),

  "a weaker signal never makes a cooldown shorter, a stronger one longer": async (scene) => {
    const start = scene.now();
    const gate = () => scene.broker.gate("gate");
    await scene.broker.cooldown("gate", scene.steps(9), "strong");
    await scene.broker.cooldown("gate", scene.steps(2), "weak");
    const first = (await gate()).cooldown;
    equal(first?.reason, "strong", "the reason after a weaker signal");
    scene.near(first?.until, start + scene.steps(9), "the end after a weaker signal");
    await scene.broker.cooldown("gate", scene.steps(20), "stronger");
    const second = (await gate()).cooldown;
    equal(second?.reason, "stronger", "the reason after a stronger signal");
    scene.near(second?.until, start + scene.steps(20), "the end after a stronger signal");
  },

  "a cooldown that is cleared lets jobs out at once": onQueue(async (scene) => {
    await scene.broker.cooldown("gate", scene.steps(50));
    await scene.add("x", { gates: ["gate"] });
    const inbox = await scene.consume();
    await inbox.holds(0, "during the cooldown");
    await scene.broker.clearCooldown("gate");
    await inbox.holds(1, "when it has been cleared");
  }),

  "a ladder cools longer with each failure, and a success steps back": async (scene) => {
    const ladder = [scene.steps(2), scene.steps(6)];
    await scene.broker.setGate("gate", { ladder });
    const cooledFor = async () => {
      const { cooldown, ladderStep } = await scene.broker.gate("gate");
      return [
        Math.round(((cooldown?.until ?? scene.now()) - scene.now()) / scene.steps(1)),
        ladderStep,
      ];
    };
    await scene.broker.reportGate("gate", false);
    equal(await cooledFor(), [2, 1], "steps of cooldown and rung after one failure");
    await scene.pass(3);
    await scene.broker.reportGate("gate", false);
    equal(await cooledFor(), [6, 2], "after two failures");
    await scene.pass(7);
    await scene.broker.reportGate("gate", true);
    equal(await cooledFor(), [0, 1], "after a success");
    await scene.broker.reportGate("gate", false);
    equal(await cooledFor(), [6, 2], "after another failure");
    await scene.pass(7);
    await scene.broker.reportGate("gate", false);
    equal(await cooledFor(), [6, 2], "after a failure on the last rung");
  },

  "an ack is a success to the ladders of the job's gates": onQueue(async (scene) => {
    await scene.broker.setGate("gate", { ladder: [scene.steps(2), scene.steps(6)] });
    await scene.broker.reportGate("gate", false);
    await scene.pass(3);
    await scene.add("x", { gates: ["gate"] });
    await scene.ack(await scene.takeOne());
    equal((await scene.broker.gate("gate")).ladderStep, 0, "the rung after the ack");
  }),

  "a cooldown that cannot be is refused": async (scene) => {
    await rejects(scene.broker.cooldown("gate", -1), "INVALID", "a cooldown of -1 ms");
    await rejects(scene.broker.cooldown("a b", 1), "INVALID", "a gate with a space in its name");
  },
});
