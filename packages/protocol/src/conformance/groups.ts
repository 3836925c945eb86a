import { cases, durableCases, onQueue } from "./case.ts";
import { bytes, each, equal, inOrder, rejects } from "./check.ts";
import type { Scene } from "./scene.ts";

async function states(scene: Scene): Promise<(string | undefined)[]> {
  return (await scene.broker.group("q/g")).members.map(({ state }) => state);
}

export const grouping = cases("groups", {
  "a group tells its members and how each ended": onQueue(async (scene) => {
    const ids = await scene.addAll(["a", "b"], { group: "g" });
    const group = await scene.broker.group("q/g");
    equal([group.id, group.ended], ["q/g", false], "the group");
    equal(each(group.members, "id"), ids, "its members");
    await scene.ack(await scene.takeOne());
    equal(await states(scene), ["finished", undefined], "the states after the first");
    equal((await scene.broker.group("q/g")).ended, false, "whether it has ended with the first");
    await scene.ack(await scene.takeOne());
    equal((await scene.broker.group("q/g")).ended, true, "whether it has ended with the last");
  }),

  "every member's end is reported, then the group's, once": onQueue(async (scene) => {
    const listener = await scene.listen({ events: ["ended", "group-ended"] });
    await scene.addAll(["a", "b", "c"], { group: "g" });
    for (const job of await scene.take(3)) await scene.ack(job);
    const end = await listener.hears("group-ended", "the end of the group");
    equal([end.queue, end.group], ["q", "q/g"], "the group that ended");
    await scene.settle();
    equal(listener.names, ["ended", "ended", "ended", "group-ended"], "what was reported");
  }),

  "a group ends however its members do": onQueue(async (scene) => {
    const listener = await scene.listen({ events: ["group-ended"] });
    const ids = await scene.addAll(["a", "b"], { group: "g", attempts: 1 });
    await scene.nack(await scene.takeOne(), { error: "boom" });
    await scene.broker.cancel([ids[1]!]);
    await listener.hears("group-ended", "the end of the group");
    equal(await states(scene), ["dead", "cancelled"], "the states");
  }),

  "a refused item does not keep its group from ending": onQueue(async (scene) => {
    const listener = await scene.listen({ events: ["ended", "group-ended"] });
    const job = { payload: bytes("x"), group: "g" };
    await scene.broker.add("q", [job, { ...job, weight: 0 }]);
    await scene.ack(await scene.takeOne());
    await listener.hears("group-ended", "the end of the group");
    inOrder(listener.names, ["ended", "group-ended"], "what was reported");
  }),

  "a retried member has not ended": onQueue(async (scene) => {
    await scene.addAll(["a"], { group: "g" });
    await scene.nack(await scene.takeOne(), { delayMs: 0 });
    equal((await scene.broker.group("q/g")).ended, false, "whether the group has ended");
    await scene.ack(await scene.takeOne());
    equal((await scene.broker.group("q/g")).ended, true, "whether it has after the ack");
  }),

  "the name of a group that has ended can be used again": onQueue(async (scene) => {
    await scene.addAll(["a"], { group: "g" });
    await scene.ack(await scene.takeOne());
    const ids = await scene.addAll(["b"], { group: "g" });
    const { ended, members } = await scene.broker.group("q/g");
    equal([ended, members.map(({ id }) => id)], [false, ids], "the new group");
  }),

  "a group that no job named is not found": async (scene) => {
    await rejects(scene.broker.group("q/nobody"), "GROUP_NOT_FOUND", "the call");
    await rejects(scene.broker.groupEnded("q/nobody"), "GROUP_NOT_FOUND", "waiting for its end");
  },

  "groups of one name in two queues are two groups": onQueue(async (scene) => {
    await scene.broker.setQueue("other", {});
    const [own] = await scene.addAll(["a"], { group: "g" });
    await scene.broker.add("other", [{ payload: bytes("x"), group: "g", delayMs: 1e9 }]);
    await scene.ack(await scene.takeOne());
    const group = await scene.broker.group("q/g");
    equal([group.ended, group.members], [true, [{ id: own, state: "finished" }]], "the first");
    equal((await scene.broker.group("other/g")).ended, false, "whether the second has ended");
  }),

  "a job joins the group of another queue by its full name": onQueue(async (scene) => {
    await scene.broker.setQueue("other", {});
    const [own] = await scene.addAll(["a"], { group: "both" });
    const [joined] = await scene.broker.add("other", [{ payload: bytes("x"), group: "q/both" }]);
    const { members } = await scene.broker.group("q/both");
    equal(members.map(({ id }) => id).sort(), [own, joined!.ok!.id].sort(), "the members");
    equal((await scene.broker.job(joined!.ok!.id)).group, "q/both", "the group of the second");
  }),

  "everybody who waits for the end of a group is answered with it": onQueue(async (scene) => {
    const [id] = await scene.addAll(["a"], { group: "g" });
    const waiting = [scene.broker.groupEnded("q/g"), scene.broker.groupEnded("q/g")];
    await scene.waits(Promise.race(waiting), "waiting for a group whose member is open");
    await scene.ack(await scene.takeOne());
    const end = { id: "q/g", ended: true, members: [{ id, state: "finished" }] };
    for (const call of waiting) equal(await scene.atOnce(call, "waiting"), end, "the answer");
    equal(await scene.atOnce(scene.broker.groupEnded("q/g"), "asking later"), end, "the answer");
  }),

  "waiting for the end of a group can be given up": onQueue(async (scene) => {
    await scene.addAll(["a"], { group: "g" });
    const giveUp = new AbortController();
    const waiting = scene.broker.groupEnded("q/g", { signal: giveUp.signal });
    await scene.waits(waiting, "waiting for a group whose member is open");
    giveUp.abort();
    await rejects(scene.atOnce(waiting, "waiting"), "ABORTED", "waiting");
    const late = scene.broker.groupEnded("q/g", { signal: AbortSignal.abort() });
    await rejects(late, "ABORTED", "waiting with a signal that was aborted before");
  }),

  "the members of a queue that is deleted end their group": onQueue(async (scene) => {
    await scene.addAll(["a"], { group: "g" });
    const waiting = scene.broker.groupEnded("q/g");
    await scene.waits(waiting, "waiting for a group whose member is open");
    await scene.broker.deleteQueue("q");
    equal((await scene.atOnce(waiting, "waiting")).ended, true, "whether it has ended");
  }),
});

const add = (scene: Scene, payload: string, holdGroups: boolean) =>
  scene.broker.add("q", [{ payload: bytes(payload), group: "g" }], { holdGroups });

export const holding = cases("held groups", {
  "a held group does not end before it is released": onQueue(async (scene) => {
    const listener = await scene.listen({ events: ["group-ended"] });
    await add(scene, "a", true);
    await scene.ack(await scene.takeOne());
    equal((await scene.broker.group("q/g")).ended, false, "whether it has ended while it is held");
    await add(scene, "b", false);
    await scene.ack(await scene.takeOne());
    equal((await scene.broker.group("q/g")).ended, false, "whether another add has released it");
    await scene.broker.releaseGroups(["q/g", "q/nobody"]);
    await listener.hears("group-ended", "the end of the group");
    equal(await states(scene), ["finished", "finished"], "its members");
    await scene.settle();
    equal(listener.names.length, 1, "how often its end was reported");
  }),

  "a group that is released while members are open ends with them": onQueue(async (scene) => {
    await add(scene, "a", true);
    await scene.broker.releaseGroups(["q/g"]);
    equal((await scene.broker.group("q/g")).ended, false, "whether it has ended with the release");
    await scene.ack(await scene.takeOne());
    equal((await scene.broker.group("q/g")).ended, true, "whether it has ended with the ack");
  }),
});

export const waitingMembers = cases("groups in a full queue", {
  "a group does not end while a member waits for room": async (scene) => {
    await scene.queue({ capacity: { jobs: 1 }, onFull: "wait", addTimeout: scene.steps(50) });
    const listener = await scene.listen({ events: ["group-ended"] });
    const jobs = ["a", "b", "c"].map((payload) => ({ payload: bytes(payload), group: "g" }));
    const add = scene.broker.add("q", jobs);
    await scene.waits(add, "an add to a full queue");
    for (let i = 0; i < 3; i++) {
      equal(listener.names, [], "what was reported of the end");
      await scene.ack(await scene.takeOne());
      await scene.settle();
    }
    await scene.atOnce(add, "the add");
    await listener.hears("group-ended", "the end of the group");
    equal(await states(scene), ["finished", "finished", "finished"], "its members");
    equal(listener.names.length, 1, "how often its end was reported");
  },

  "a member that finds no room in its time does not keep its group open": async (scene) => {
    await scene.queue({ capacity: { jobs: 1 }, onFull: "wait", addTimeout: scene.steps(4) });
    const jobs = ["a", "b"].map((payload) => ({ payload: bytes(payload), group: "g" }));
    const add = scene.broker.add("q", jobs);
    await scene.waits(add, "an add to a full queue");
    await scene.pass(5);
    await scene.atOnce(add, "the add");
    await scene.ack(await scene.takeOne());
    equal((await scene.broker.group("q/g")).ended, true, "whether the group has ended");
  },
});

export const heldGroupsSurvive = durableCases("held groups survive", {
  "a held group is still held, and can be released": onQueue(async (scene) => {
    await add(scene, "a", true);
    await scene.ack(await scene.takeOne());
    await scene.reopen();
    equal((await scene.broker.group("q/g")).ended, false, "whether it has ended");
    const waiting = scene.broker.groupEnded("q/g");
    await scene.waits(waiting, "waiting for a held group");
    await scene.broker.releaseGroups(["q/g"]);
    equal((await scene.atOnce(waiting, "waiting")).ended, true, "whether it has ended");
  }),

  "a released group stays released": onQueue(async (scene) => {
    await add(scene, "a", true);
    await scene.broker.releaseGroups(["q/g"]);
    await scene.reopen();
    await scene.ack(await scene.takeOne());
    equal((await scene.broker.group("q/g")).ended, true, "whether it has ended");
  }),
});
