import { cases, durableCases, onQueue } from "./case.ts";
import { bytes, equal } from "./check.ts";
import type { Scene } from "./scene.ts";

/** What becomes of a failure that cools this gate down, by a caller with rights on these. */
async function cool(scene: Scene, gate: string, mayCool: readonly string[]): Promise<string> {
  const { lease } = await scene.takeOne();
  const failure = { lease, cooldown: { gate, ms: 1 }, mayCool, delayMs: 1e9 };
  const [outcome] = await scene.broker.nack([failure]);
  if (outcome?.error !== undefined) await scene.broker.ack([{ lease }]);
  return outcome?.error?.code ?? "ok";
}

const JOB = { payload: bytes("x") };

export const coolingRights = cases("gates: who may cool them down", {
  "a caller with limited rights cools its own gates and those of the queue's policy": async (
    scene,
  ) => {
    await scene.queue({ policy: { gates: ["policy:{headers.x}"] } });
    await scene.broker.add("q", [{ ...JOB, headers: { x: "a" } }]);
    equal(await cool(scene, "policy:a", []), "ok", "a gate that the policy gave the job");
    await scene.broker.add("q", [{ ...JOB, headers: { x: "c" } }]);
    equal(await cool(scene, "policy:b", []), "FORBIDDEN", "a gate that it did not");
    await scene.broker.add("q", [{ ...JOB, gates: ["named"] }]);
    equal(await cool(scene, "named", []), "FORBIDDEN", "a gate that the producer named");
    await scene.broker.add("q", [{ ...JOB, gates: ["named"] }]);
    equal(await cool(scene, "named", ["na*"]), "ok", "a gate that the caller has rights on");
  },

  "a policy says which of its gates may be cooled down": async (scene) => {
    await scene.queue({ policy: { gates: ["a.1", "b.1"], cools: ["a.*"] } });
    await scene.broker.add("q", [JOB]);
    equal(await cool(scene, "b.1", []), "FORBIDDEN", "a gate that it does not name");
    await scene.broker.add("q", [JOB]);
    equal(await cool(scene, "a.1", []), "ok", "a gate that it names");
  },

  "a policy that was taken away lets no caller cool down the gates it gave": async (scene) => {
    await scene.queue({ policy: { gates: ["a", "b"], cools: [] } });
    await scene.broker.setGate("b", { ladder: [scene.steps(100)] });
    await scene.broker.add("q", [JOB, JOB]);
    await scene.broker.setQueue("q", { policy: null });
    equal(await cool(scene, "a", []), "FORBIDDEN", "a gate that it gave the job");
    const { lease } = await scene.takeOne();
    await scene.broker.nack([{ lease, mayCool: [] }]);
    equal((await scene.broker.gate("b")).cooldown, undefined, "the ladder");
  },

  "what is no cooldown or blame is refused alike with and without limited rights": async (
    scene,
  ) => {
    await scene.queue();
    await scene.broker.add("q", [JOB]);
    const { lease } = await scene.takeOne();
    for (const wrong of [
      { blame: 5 },
      { blame: {} },
      { blame: "gate" },
      { blame: Array(17).fill("gate") },
      { cooldown: null },
      { cooldown: 5 },
      { cooldown: { gate: 5, ms: 1 } },
      { cooldown: { gate: ["gate"], ms: 1 } },
    ] as object[]) {
      for (const mayCool of [undefined, [], ["*"]]) {
        const [outcome] = await scene.broker.nack([{ lease, ...wrong, mayCool }]);
        equal(outcome?.error?.code, "INVALID", `${JSON.stringify(wrong)}, rights ${mayCool}`);
      }
    }
  },

  "a failure without rights feeds no ladder of a gate that the producer named": onQueue(
    async (scene) => {
      await scene.broker.setGate("gate", { ladder: [scene.steps(100)] });
      await scene.broker.add("q", [{ ...JOB, gates: ["gate"] }]);
      const { lease } = await scene.takeOne();
      equal(await scene.broker.nack([{ lease, mayCool: [] }]), [{ ok: true }], "the answer");
      equal((await scene.broker.gate("gate")).cooldown, undefined, "the cooldown");
    },
  ),

  "a cooldown of more than an hour is cut, and the answer says to what": onQueue(async (scene) => {
    await scene.broker.add("q", [{ ...JOB, gates: ["gate"] }]);
    const { lease } = await scene.takeOne();
    const outcomes = await scene.broker.nack([{ lease, cooldown: { gate: "gate", ms: 1e10 } }]);
    equal(outcomes, [{ ok: 3_600_000 }], "the answer");
  }),
});

export const coolingRightsSurvive = durableCases("gates of policies survive", {
  "a job's gates are known as the policy's after a restart": async (scene) => {
    await scene.queue({ policy: { gates: ["gate"] } });
    await scene.broker.add("q", [JOB]);
    await scene.reopen();
    equal(await cool(scene, "gate", []), "ok", "a gate that the policy gave the job");
  },
});
