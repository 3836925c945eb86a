import type { LeasedJob, StepKind, Suspension } from "../job.ts";
import { cases, durableCases, onQueue } from "./case.ts";
import { accepted, check, equal, refused, rejects } from "./check.ts";
import type { Scene } from "./scene.ts";

const named = (name: string, kind: StepKind, occurrence = 0) => ({ name, occurrence, kind });

async function record(scene: Scene, { lease }: LeasedJob, name: string, value: unknown) {
  const [outcome] = await scene.broker.recordStep([{ lease, name, occurrence: 0, value }]);
  return outcome!;
}

async function suspend(scene: Scene, { lease }: LeasedJob, of: Omit<Suspension, "lease">) {
  const [outcome] = await scene.broker.suspend([{ lease, ...of }]);
  return accepted(outcome!, "the suspension");
}

async function begun(scene: Scene): Promise<LeasedJob> {
  await scene.add("x");
  return scene.takeOne();
}

export const stepping = cases("steps", {
  "a recorded result is there for the next delivery": onQueue(async (scene) => {
    const job = await begun(scene);
    equal(job.hasSteps, undefined, "steps of a new job");
    accepted(await record(scene, job, "charge", { paid: [1, "é"] }), "the record");
    accepted(await record(scene, job, "charge", "again"), "a record that is repeated");
    await scene.nack(job, { delayMs: 0 });
    const again = await scene.takeOne();
    equal(again.hasSteps, true, "that the job has steps");
    const { items } = await scene.broker.steps(job.id);
    equal(
      items.map(({ name, occurrence, kind, isDone, value }) => {
        return { name, occurrence, kind, isDone, value };
      }),
      [{ ...named("charge", "run"), isDone: true, value: { paid: [1, "é"] } }],
      "the steps",
    );
  }),

  "a sleeping job is not delivered before its time, and uses no attempt or delivery": onQueue(
    async (scene) => {
      const job = await begun(scene);
      const sleep = { ...named("", "sleep"), delayMs: scene.steps(20) };
      equal(await suspend(scene, job, sleep), true, "the answer");
      equal((await scene.broker.job(job.id)).state, "delayed", "the state of a sleeping job");
      const [late] = await scene.broker.ack([{ lease: job.lease }]);
      refused(late!, "LEASE_LOST", "an ack after the suspension");
      await scene.expectAfter(20, ["x"], "the job that slept");
      const { attempt, deliveries } = await scene.broker.job(job.id);
      equal([attempt, deliveries], [0, 1], "attempt and deliveries");
    },
  ),

  "a signal continues the job that waits for it, with its value": onQueue(async (scene) => {
    const job = await begun(scene);
    equal(await suspend(scene, job, named("approved", "wait")), true, "the answer");
    await scene.broker.signal(job.id, "approved", { by: "ann" });
    await scene.expect(["x"], "the continued job");
    const { items } = await scene.broker.steps(job.id);
    equal([items[0]?.value, items[0]?.isLate], [{ by: "ann" }, undefined], "the step");
  }),

  "a signal that comes early is kept": onQueue(async (scene) => {
    const job = await begun(scene);
    await scene.broker.signal(job.id, "approved", 7);
    equal((await scene.broker.steps(job.id)).signals.length, 1, "signals that are kept");
    equal(await suspend(scene, job, named("approved", "wait")), false, "the answer");
    equal((await scene.broker.steps(job.id)).items[0]?.value, 7, "the value of the step");
  }),

  "a wait ends without a signal when its time is over": onQueue(async (scene) => {
    const job = await begun(scene);
    await suspend(scene, job, { ...named("approved", "wait"), delayMs: scene.steps(20) });
    await scene.expectAfter(20, ["x"], "the job that waited");
    equal((await scene.broker.steps(job.id)).items[0]?.isLate, true, "that no signal came");
  }),

  "the gates of a step keep the job, and are released when its result is recorded": onQueue(
    async (scene) => {
      await scene.broker.setGate("model", { concurrency: 1 });
      await scene.add("first", { gates: ["model"] });
      const first = await scene.takeOne();
      const job = await begun(scene);
      await suspend(scene, job, { ...named("ask", "run"), gates: ["model"] });
      await scene.expect([], "jobs while the gate is full");
      await scene.ack(first);
      const granted = await scene.takeOne();
      const { pending } = await scene.broker.steps(job.id);
      equal(pending, named("ask", "run"), "the step whose gates the job has");
      accepted(await record(scene, granted, "ask", "yes"), "the record");
      equal((await scene.broker.gate("model")).inFlight, 0, "permits after the record");
      await scene.ack(granted);
    },
  ),

  "another kind under the same name is refused, and so are names that are too long": onQueue(
    async (scene) => {
      const job = await begun(scene);
      accepted(await record(scene, job, "ready", 1), "the record");
      const { lease } = job;
      const [other] = await scene.broker.suspend([{ lease, ...named("ready", "wait") }]);
      refused(other!, "CONFLICT", "a wait under the name of a run");
      refused(await record(scene, job, "x".repeat(256), 1), "INVALID", "a long name");
      const large = "x".repeat(1024 * 1024);
      refused(await record(scene, job, "large", large), "PAYLOAD_TOO_LARGE", "a large value");
      await rejects(scene.broker.signal(job.id, "", 1), "INVALID", "a signal without a name");
    },
  ),

  "a signal to a job that has ended is refused": onQueue(async (scene) => {
    const job = await begun(scene);
    await scene.ack(job);
    await rejects(scene.broker.signal(job.id, "s", 1), "ALREADY_FINISHED", "a late signal");
  }),

  "a cost is corrected afterwards": async (scene) => {
    await scene.broker.setGate("tokens", { windows: [{ limit: 100, per: "1h" }] });
    await scene.broker.chargeGate("tokens", 40);
    equal((await scene.broker.gate("tokens")).windows[0]?.used, 40, "what is used");
  },

  "events tell of steps, suspensions and signals": onQueue(async (scene) => {
    const listener = await scene.listen({ events: ["step", "suspended", "signalled"] });
    const job = await begun(scene);
    accepted(await record(scene, job, "a", 1), "the record");
    await suspend(scene, job, named("ok", "wait"));
    await scene.broker.signal(job.id, "ok");
    await scene.until(() => listener.heard.length === 4, "four events");
    equal(listener.names, ["step", "suspended", "signalled", "step"], "the events");
  }),
});

export const stepsSurvive = durableCases("steps survive", {
  "results, signals and what a job waits for": onQueue(async (scene) => {
    const job = await begun(scene);
    accepted(await record(scene, job, "charge", { paid: 1 }), "the record");
    await scene.broker.signal(job.id, "early", "kept");
    await suspend(scene, job, named("approved", "wait"));
    await scene.reopen();
    const why = await scene.broker.why(job.id);
    check("step" in why && why.step === "approved", `why must name the signal: ${why.text}`);
    await scene.broker.signal(job.id, "approved", "yes");
    const again = await scene.takeOne();
    equal(again.id, job.id, "the continued job");
    const { items, signals } = await scene.broker.steps(job.id);
    equal(
      items.map(({ name, value }) => [name, value]),
      [
        ["charge", { paid: 1 }],
        ["approved", "yes"],
      ],
      "the steps",
    );
    equal(
      signals.map(({ name }) => name),
      ["early"],
      "the signals that are kept",
    );
  }),
});
