import { durableCases, onQueue } from "./case.ts";
import { check, each, equal, matches, textOf } from "./check.ts";

export const gatesSurvive = durableCases("gates survive", {
  "a bucket keeps its level: what is spent is spent": onQueue(async (scene) => {
    await scene.broker.setGate("gate", { rate: scene.oneEvery(10), burst: 2 });
    await scene.addAll(["a", "b", "c"], { gates: ["gate"] });
    await scene.expect(["a", "b"], "the burst");
    await scene.reopen();
    await scene.expect([], "what goes out at once");
    await scene.pass(5);
    await scene.expect([], "what goes out before the next token");
    await scene.pass(6);
    await scene.expect(["c"], "what goes out with it");
  }),

  "windows remember what went out": onQueue(async (scene) => {
    await scene.broker.setGate("gate", { windows: [{ limit: 2, per: scene.steps(10) }] });
    await scene.addAll(["a", "b", "c"], { gates: ["gate"] });
    await scene.expect(["a", "b"], "what the window lets out");
    await scene.reopen();
    equal((await scene.broker.gate("gate")).windows[0]?.used, 2, "what is used of the window");
    await scene.pass(5);
    await scene.expect([], "what goes out before the window has passed");
    await scene.pass(6);
    await scene.expect(["c"], "what goes out after it");
  }),

  "an interval continues": onQueue(async (scene) => {
    await scene.broker.setGate("gate", { interval: { every: scene.steps(10) } });
    await scene.addAll(["a", "b"], { gates: ["gate"] });
    await scene.ack(await scene.takeOne());
    await scene.reopen();
    await scene.pass(5);
    await scene.expect([], "what goes out within the interval");
    await scene.pass(6);
    await scene.expect(["b"], "what goes out after it");
  }),

  "leases hold their places at gates": onQueue(async (scene) => {
    await scene.broker.setGate("gate", { concurrency: 1 });
    await scene.addAll(["a", "b"], { gates: ["gate"] });
    const job = await scene.takeOne();
    await scene.reopen();
    equal((await scene.broker.gate("gate")).inFlight, 1, "the leases of the gate");
    await scene.expect([], "what goes out while the place is taken");
    await scene.ack(job);
    await scene.expect(["b"], "what goes out when it is free");
  }),

  "cooldowns and ladders go on": onQueue(async (scene) => {
    const until = scene.now() + scene.steps(10);
    await scene.broker.setGate("ladder", { ladder: [scene.steps(1), scene.steps(9)] });
    await scene.broker.reportGate("ladder", false);
    await scene.broker.cooldown("gate", scene.steps(10), "429");
    await scene.add("x", { gates: ["gate"] });
    await scene.reopen();
    const info = await scene.broker.gate("gate");
    equal(info.cooldown?.reason, "429", "the reason of the cooldown");
    scene.near(info.cooldown?.until, until, "its end");
    await scene.pass(5);
    await scene.expect([], "what goes out during the cooldown");
    await scene.pass(6);
    await scene.expect(["x"], "what goes out after it");
    equal((await scene.broker.gate("ladder")).ladderStep, 1, "the rung of the ladder");
  }),

  "limits and patterns are kept, and deleted ones stay deleted": async (scene) => {
    const config = { rate: 2.5, burst: 7, concurrency: 3, ladder: [1000] };
    await scene.broker.setGate("gate", config);
    await scene.broker.setGate("api:*", { concurrency: 4 });
    await scene.broker.setGate("gone", { concurrency: 1 });
    await scene.broker.deleteGate("gone");
    await scene.reopen();
    equal((await scene.broker.gate("gate")).config, config, "the limits");
    const matched = await scene.broker.gate("api:a");
    equal([matched.config, matched.pattern], [{ concurrency: 4 }, "api:*"], "by the pattern");
    equal((await scene.broker.gate("gone")).config, undefined, "the limits that were deleted");
  },
});

export const queuesSurvive = durableCases("queues survive", {
  "options are kept, the paused flag among them": async (scene) => {
    const options = { tiers: ["hot", "cold"], lease: 7000, addTimeout: 77, dlq: "dead" };
    const { config } = await scene.queue({ ...options, paused: true, retry: { attempts: 9 } });
    await scene.add("x");
    await scene.reopen();
    equal((await scene.broker.queue("q")).config, config, "the configuration");
    await scene.expect([], "what a paused queue hands out");
    await scene.queue({ paused: false });
    await scene.expect(["x"], "what it hands out when it continues");
  },

  "the weights of lanes are kept": onQueue(async (scene) => {
    await scene.broker.setLaneWeight("q", "a", 3);
    await scene.addAll(
      Array.from({ length: 12 }, () => "a"),
      { fairnessKey: "a" },
    );
    await scene.addAll(
      Array.from({ length: 12 }, () => "b"),
      { fairnessKey: "b", weight: 2 },
    );
    await scene.reopen();
    const { items } = await scene.broker.lanes("q");
    const weights = Object.fromEntries(items.map(({ key, weight }) => [String(key), weight]));
    equal(weights, { a: 3, b: 2 }, "the weights");
    const got = (await scene.take(10)).map(textOf).filter((name) => name === "a").length;
    check(Math.abs(got / 3 - (10 - got) / 2) <= 1, `${got} of 10 went to the lane of weight 3`);
  }),

  "what a queue has counted is kept": onQueue(async (scene) => {
    await scene.addAll(["a", "b", "c"]);
    const [a, b] = await scene.take(2);
    await scene.ack(a!);
    await scene.broker.cancel([b!.id]);
    await scene.reopen();
    const { stats } = await scene.broker.queue("q");
    const counts = { waiting: 1, running: 0, kept: 2, added: 3, dispatched: 2, finished: 1 };
    matches(stats, { ...counts, cancelled: 1 }, "the counts");
  }),
});

export const storesSurvive = durableCases("stores survive", {
  "what was written is there, and what was deleted is not": async (scene) => {
    await scene.broker.storeWrite("s", [
      { key: "a", value: { deep: [1, null, "ü"] } },
      { key: "b", value: 1 },
      { key: "c", value: 2 },
    ]);
    await scene.broker.storeWrite("s", [
      { key: "b", value: undefined },
      { key: "c", value: 3 },
    ]);
    await scene.reopen();
    const read = await scene.broker.storeGet("s", ["a", "b", "c"]);
    equal(read, [{ deep: [1, null, "ü"] }, undefined, 3], "the values");
    const { items } = await scene.broker.storeScan("s");
    equal(each(items, "key"), ["a", "c"], "the keys");
  },
});
