import { cases } from "./case.ts";
import { bytes, equal, inOrder, rejects } from "./check.ts";
import type { Scene } from "./scene.ts";

async function endings(scene: Scene): Promise<(string | undefined)[]> {
  return (await scene.broker.group("g")).members.map(({ ending }) => ending);
}

export const grouping = cases("groups", {
  "a group tells its members and how each ended": async (scene) => {
    await scene.queue();
    const ids = await scene.addAll(["a", "b"], { group: "g" });
    const group = await scene.broker.group("g");
    equal([group.id, group.ended], ["g", false], "the group");
    equal(
      group.members.map(({ id }) => id),
      ids,
      "its members",
    );
    await scene.ack(await scene.takeOne());
    equal(await endings(scene), ["finished", undefined], "the endings after the first");
    equal((await scene.broker.group("g")).ended, false, "whether it has ended with the first");
    await scene.ack(await scene.takeOne());
    equal((await scene.broker.group("g")).ended, true, "whether it has ended with the last");
  },

  "every member's end is told, then the group's, once": async (scene) => {
    await scene.queue();
    const listener = await scene.listen({ events: ["ended", "group-ended"] });
    await scene.addAll(["a", "b", "c"], { group: "g" });
    for (const job of await scene.take(3)) await scene.ack(job);
    const end = await listener.hears("group-ended", "the end of the group");
    equal(end.group, "g", "the group that ended");
    await scene.settle();
    equal(listener.names, ["ended", "ended", "ended", "group-ended"], "what was told");
  },

  "a group ends however its members do": async (scene) => {
    await scene.queue();
    const listener = await scene.listen({ events: ["group-ended"] });
    const ids = await scene.addAll(["a", "b"], { group: "g", attempts: 1 });
    await scene.nack(await scene.takeOne(), { error: "boom" });
    await scene.broker.cancel([ids[1]!]);
    await listener.hears("group-ended", "the end of the group");
    equal(await endings(scene), ["dead", "cancelled"], "the endings");
  },

  "a refused item does not keep its group from ending": async (scene) => {
    await scene.queue();
    const listener = await scene.listen({ events: ["ended", "group-ended"] });
    const job = { payload: bytes("x"), group: "g" };
    await scene.broker.add("q", [job, { ...job, weight: 0 }]);
    await scene.ack(await scene.takeOne());
    await listener.hears("group-ended", "the end of the group");
    inOrder(listener.names, ["ended", "group-ended"], "what was told");
  },

  "a retried member has not ended": async (scene) => {
    await scene.queue();
    await scene.addAll(["a"], { group: "g" });
    await scene.nack(await scene.takeOne(), { delayMs: 0 });
    equal((await scene.broker.group("g")).ended, false, "whether the group has ended");
    await scene.ack(await scene.takeOne());
    equal((await scene.broker.group("g")).ended, true, "whether it has after the ack");
  },

  "the name of a group that has ended can be used again": async (scene) => {
    await scene.queue();
    await scene.addAll(["a"], { group: "g" });
    await scene.ack(await scene.takeOne());
    const ids = await scene.addAll(["b"], { group: "g" });
    const { ended, members } = await scene.broker.group("g");
    equal([ended, members.map(({ id }) => id)], [false, ids], "the new group");
  },

  "a group that nobody named is not found": async (scene) => {
    await rejects(scene.broker.group("nobody"), "GROUP_NOT_FOUND", "the call");
  },
});
