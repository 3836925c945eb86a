import type { LeasedJob, Outcome } from "../job.ts";
import type { Broker } from "../port.ts";
import { type ConformanceCase, cases, onQueue } from "./case.ts";
import { accepted, bytes, each, equal, matches, refused } from "./check.ts";
import { PROMPT, type Scene } from "./scene.ts";

export const finishing = cases("ack", {
  "an ack finishes the job, with its result": onQueue(async (scene) => {
    const id = await scene.add("x");
    await scene.ack(await scene.takeOne(), bytes("done"));
    const info = await scene.broker.job(id);
    matches(info, { state: "finished", result: bytes("done") }, "the job");
    scene.near(info.at, scene.now(), "when it ended");
  }),

  "an acked job never comes back": async (scene) => {
    await scene.queue({ lease: scene.steps(3), retry: PROMPT });
    await scene.add("x");
    await scene.ack(await scene.takeOne());
    await scene.pass(6);
    await scene.expect([], "what there is after the lease would have run out");
  },

  "an ack without a result leaves none": onQueue(async (scene) => {
    const id = await scene.add("x");
    await scene.ack(await scene.takeOne());
    equal((await scene.broker.job(id)).result, undefined, "the result");
  }),

  "one bad lease of a batch is refused, and the others are acked": onQueue(async (scene) => {
    await scene.addAll(["a", "b"]);
    const [a, b] = await scene.take(2);
    const leases = [a!.lease, "garbage", b!.lease];
    const outcomes = await scene.broker.ack(leases.map((lease) => ({ lease })));
    equal(outcomes.length, 3, "the number of answers");
    accepted(outcomes[0], "the first ack");
    refused(outcomes[1], "INVALID", "the garbage");
    accepted(outcomes[2], "the last ack");
    equal((await scene.broker.queue("q")).stats.finished, 2, "the jobs that finished");
  }),

  "the same lease twice in one batch is acked once": onQueue(async (scene) => {
    await scene.add("x");
    const { lease } = await scene.takeOne();
    const [first, second] = await scene.broker.ack([{ lease }, { lease }]);
    accepted(first, "the first ack");
    refused(second, "ALREADY_FINISHED", "the second ack");
  }),
});

type Verb = (broker: Broker, lease: string) => Promise<Outcome<unknown>[]>;

/** Every call that names a lease. */
const VERBS: Readonly<Record<string, Verb>> = {
  ack: (broker, lease) => broker.ack([{ lease }]),
  nack: (broker, lease) => broker.nack([{ lease, error: "boom" }]),
  giveBack: (broker, lease) => broker.giveBack([lease]),
  extend: (broker, lease) => broker.extend([{ lease, leaseMs: 1000 }]),
  progress: (broker, lease) => broker.progress([{ lease, progress: 1 }]),
};

/** A lease that ran out. */
async function lost(scene: Scene): Promise<LeasedJob> {
  await scene.queue({ lease: scene.steps(3), retry: PROMPT });
  await scene.add("x");
  const job = await scene.takeOne();
  await scene.pass(4);
  return job;
}

/** The first job of a broker, delivered once: another broker would give it the same numbers. */
async function takenIn(scene: Scene): Promise<LeasedJob> {
  await scene.queue();
  await scene.add("x");
  return scene.takeOne();
}

const verbCases = (verb: string, call: Verb): ConformanceCase[] =>
  cases(verb, {
    "the lease of a finished job is refused with ALREADY_FINISHED": onQueue(async (scene) => {
      await scene.add("x");
      const job = await scene.takeOne();
      await scene.ack(job);
      const [outcome] = await call(scene.broker, job.lease);
      refused(outcome, "ALREADY_FINISHED", `${verb} after an ack`);
    }),

    "a lease that ran out is refused with LEASE_LOST": async (scene) => {
      const job = await lost(scene);
      const [outcome] = await call(scene.broker, job.lease);
      refused(outcome, "LEASE_LOST", `${verb} after the lease ran out`);
      equal((await scene.takeOne()).attempt, 1, "the attempt of the next delivery");
    },

    "a lease that another delivery overtook is refused with LEASE_LOST": async (scene) => {
      const old = await lost(scene);
      const job = await scene.takeOne();
      const [outcome] = await call(scene.broker, old.lease);
      refused(outcome, "LEASE_LOST", `${verb} with the lease of the first delivery`);
      await scene.ack(job);
    },

    "the lease of a job never issued is refused with JOB_NOT_FOUND": async (scene) => {
      const other = await scene.elsewhere();
      await other.queue();
      await other.addAll(Array.from({ length: 50 }, (_, i) => `${i}`));
      const unknown = (await other.take(50))[49]!;
      await scene.queue();
      await scene.add("x");
      const [outcome] = await call(scene.broker, unknown.lease);
      refused(outcome, "JOB_NOT_FOUND", `${verb} with the lease of another broker`);
    },

    "a guessed token does nothing and is refused with JOB_NOT_FOUND": async (scene) => {
      const mine = await takenIn(scene);
      const same = await takenIn(await scene.elsewhere());
      const last = mine.lease.endsWith("A") ? "B" : "A";
      const guesses = [same.lease, mine.lease.slice(0, -1) + last, mine.lease.slice(0, -1)];
      for (const guess of [...guesses, mine.lease.slice(0, mine.lease.lastIndexOf("."))]) {
        const [outcome] = await call(scene.broker, guess);
        refused(outcome, "JOB_NOT_FOUND", `${verb} with the guess ${guess} for ${mine.lease}`);
      }
      const { progress, state, at } = await scene.broker.job(mine.id);
      equal([progress, state], [undefined, "running"], "the progress and state of the job");
      scene.near(at, mine.expiresAt, "the end of its lease");
      await scene.ack(mine);
    },

    "a lease that is none is refused with INVALID": onQueue(async (scene) => {
      for (const lease of ["", "garbage", "1.2.3.4", "\u0000"]) {
        const [outcome] = await call(scene.broker, lease);
        refused(outcome, "INVALID", `${verb} with the lease ${JSON.stringify(lease)}`);
      }
    }),
  });

export const holding: readonly ConformanceCase[] = Object.entries(VERBS).flatMap(([verb, call]) =>
  verbCases(verb, call),
);

export const extending = cases("extend, giveBack, progress", {
  "a lease that is extended lasts from now, and the answer says until when": async (scene) => {
    await scene.queue({ lease: scene.steps(3), retry: PROMPT });
    await scene.add("x");
    const { lease } = await scene.takeOne();
    await scene.pass(2);
    const [outcome] = await scene.broker.extend([{ lease, leaseMs: scene.steps(6) }]);
    scene.near(accepted(outcome, "the extend"), scene.now() + scene.steps(6), "its new end");
    await scene.pass(5);
    await scene.expect([], "what there is while the extended lease is live");
    await scene.pass(2);
    equal((await scene.takeOne()).attempt, 1, "the attempt after the extended lease ran out");
  },

  "a lease time that cannot be is refused": onQueue(async (scene) => {
    await scene.add("x");
    const { lease } = await scene.takeOne();
    const [outcome] = await scene.broker.extend([{ lease, leaseMs: 0 }]);
    refused(outcome, "INVALID", "an extend by 0 ms");
  }),

  "jobs given back go to the front, at once and with no attempt lost": onQueue(async (scene) => {
    await scene.addAll(["a", "b", "c"]);
    const [a, b] = await scene.take(2);
    for (const outcome of await scene.broker.giveBack([b!.lease, a!.lease])) {
      accepted(outcome, "the give back");
    }
    const jobs = await scene.expect(["a", "b", "c"], "the order after the give back");
    equal(each(jobs, "attempt"), [0, 0, 0], "their attempts");
  }),

  "progress is shown with the job, the latest report only": onQueue(async (scene) => {
    const id = await scene.add("x");
    const { lease } = await scene.takeOne();
    for (const progress of [{ done: 1, of: [2, 3] }, "nearly"]) {
      const [outcome] = await scene.broker.progress([{ lease, progress }]);
      accepted(outcome, "the progress");
      equal((await scene.broker.job(id)).progress, progress, "the progress of the job");
    }
  }),
});
