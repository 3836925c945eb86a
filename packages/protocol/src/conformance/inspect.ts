import type { JobInfo } from "../job.ts";
import type { JobsOptions } from "../port.ts";
import type { QueueTimes } from "../stats.ts";
import { cases, onQueue } from "./case.ts";
import {
  accepted,
  bytes,
  check,
  each,
  equal,
  inOrder,
  matches,
  paged,
  refused,
  rejects,
  textOf,
} from "./check.ts";
import { PROMPT, type Scene } from "./scene.ts";

/** The id of a job that the scene's broker has never issued. */
async function unknownId(scene: Scene): Promise<string> {
  const other = await scene.elsewhere();
  await other.queue();
  return (await other.addAll(Array.from({ length: 50 }, (_, i) => `${i}`)))[49]!;
}

/** All pages of a list of jobs. */
function listed(scene: Scene, options: JobsOptions): Promise<JobInfo[]> {
  return paged(options.limit, (from) => scene.broker.jobs("q", { ...options, ...from }));
}

export const inspecting = cases("job, history, ended", {
  "a job tells its state through its life": async (scene) => {
    await scene.queue({ retry: PROMPT });
    const id = await scene.add("x", { delayMs: scene.steps(2) });
    const states = [(await scene.broker.job(id)).state];
    await scene.pass(3);
    states.push((await scene.broker.job(id)).state);
    const job = await scene.takeOne();
    const running = await scene.broker.job(id);
    scene.near(running.at, job.expiresAt, "when its lease ends");
    states.push(running.state);
    await scene.ack(job);
    states.push((await scene.broker.job(id)).state);
    equal(states, ["delayed", "waiting", "running", "finished"], "its states");
  },

  "a job tells its payload, headers and group": onQueue(async (scene) => {
    const id = await scene.add("x", { headers: { a: "b" }, group: "g" });
    const info = { id, payload: bytes("x"), headers: { a: "b" }, group: "q/g" };
    matches(await scene.broker.job(id), info, "the job");
  }),

  "the lines and the attempts of a job are listed, whatever became of it": async (scene) => {
    await scene.queue({ retry: PROMPT });
    const id = await scene.add("x");
    const first = await scene.takeOne("q", { worker: "w1" });
    const [written] = await scene.broker.log([{ lease: first.lease, lines: ["one", "two"] }]);
    accepted(written, "the lines");
    await scene.nack(first, { error: "boom" });
    const second = await scene.takeOne("q", { worker: "w2" });
    await scene.broker.log([{ lease: second.lease, lines: ["x".repeat(2000)] }]);
    await scene.ack(second, bytes("done"));
    const lines = each(await scene.broker.logLines(id), "text");
    equal(lines.slice(0, 2), ["one", "two"], "the first lines");
    equal(lines[2]!.length, 1024, "the length of the long one");
    const attempts = await scene.broker.attempts(id);
    equal(each(attempts, "worker"), ["w1", "w2"], "the workers");
    equal(each(attempts, "outcome"), ["failed", "finished"], "how they ended");
    check(
      attempts.every(({ startedAt, endedAt }) => endedAt! >= startedAt),
      "each has a length",
    );
    const [late] = await scene.broker.log([{ lease: first.lease, lines: ["late"] }]);
    refused(late, "ALREADY_FINISHED", "a line of a lease that is over");
  },

  "a job never issued is not found by any call": async (scene) => {
    const id = await unknownId(scene);
    await scene.queue();
    await rejects(scene.broker.job(id), "JOB_NOT_FOUND", "job");
    await rejects(scene.broker.why(id), "JOB_NOT_FOUND", "why");
    await rejects(scene.broker.history(id), "JOB_NOT_FOUND", "history");
    refused((await scene.broker.lives([id]))[0], "JOB_NOT_FOUND", "lives");
    await rejects(scene.atOnce(scene.broker.ended(id), "ended"), "JOB_NOT_FOUND", "ended");
  },

  "a job that is retried by a person lives again, by the same log": async (scene) => {
    await scene.queue({ retry: PROMPT });
    const id = await scene.add("x");
    const lives = async () => (await scene.broker.lives([id]))[0]!.ok!;
    const { log } = await lives();
    check(log.length >= 20, "the identity of the log must be one that others do not have");
    await scene.nack(await scene.takeOne());
    equal(await lives(), { log, generation: 0, isEnded: false }, "after a failure");
    await scene.ack(await scene.takeOne());
    equal(await lives(), { log, generation: 0, isEnded: true }, "after its end");
    await scene.broker.retry([id]);
    equal(await lives(), { log, generation: 1, isEnded: false }, "after the retry");
    await scene.nack(await scene.takeOne(), { unrecoverable: true });
    equal((await lives()).generation, 2, "of the dead letter");
    await scene.broker.redrive("q.dlq");
    equal(await lives(), { log, generation: 3, isEnded: false }, "after the redrive");
  },

  "the queue of a job is named, wherever the job is": onQueue(async (scene) => {
    const [dead, waiting] = [await scene.bury("x"), await scene.add("y")];
    const queues = await scene.broker.queuesOf([dead, "nothing", waiting]);
    equal(queues, ["q.dlq", undefined, "q"], "the queues");
  }),

  "stats tell how long jobs waited and ran, and what is held": onQueue(async (scene) => {
    await scene.add("x");
    await scene.pass(1);
    const job = await scene.takeOne();
    await scene.pass(2);
    await scene.ack(job);
    const stats = await scene.broker.stats({ queues: ["q", "nowhere"] });
    equal(each(stats.queues, "name"), ["q"], "the queues whose times are reported");
    const [{ wait, run }] = stats.queues as [QueueTimes];
    const total = (counts: readonly number[]): number => counts.reduce((sum, n) => sum + n, 0);
    equal([total(wait.counts), total(run.counts)], [1, 1], "what was counted");
    check(wait.sum >= scene.steps(1), "it waited for a step at least");
    check(run.sum >= scene.steps(2), "it ran for two steps at least");
    check(total(stats.adds.counts) > 0, "the add was counted");
    check(stats.logBytes > 0, "the log has bytes");
  }),

  "stats tell what gates decided": onQueue(async (scene) => {
    await scene.broker.setGate("gate", { concurrency: 1 });
    await scene.addAll(["a", "b"], { gates: ["gate"] });
    await scene.expect(["a"], "what goes out");
    const { gates } = await scene.broker.stats({ gates: ["gate", "unknown"] });
    const [gate, unknown] = gates;
    equal([gate?.key, gate?.passed], ["gate", 1], "what passed the gate");
    check((gate?.kept.concurrency ?? 0) > 0, "the gate kept the second job");
    equal(unknown, { key: "unknown", passed: 0, kept: {} }, "a gate that nothing came to");
    equal((await scene.broker.stats()).gates, [], "the gates when none was asked for");
  }),

  "stats tell which job has waited longest": onQueue(async (scene) => {
    const first = await scene.add("x", { fairnessKey: "one" });
    await scene.pass(1);
    await scene.add("y", { fairnessKey: "another" });
    const { queues } = await scene.broker.stats({ queues: ["q"], oldest: true });
    const { addedAt } = await scene.broker.job(first);
    equal(queues[0]?.oldest, { id: first, addedAt }, "the oldest job that waits");
    equal(queues[0]?.nextDueAt, undefined, "when the next is due, of none");
  }),

  "stats tell when the next delayed job is due": onQueue(async (scene) => {
    await scene.add("later", { delayMs: scene.steps(9) });
    const id = await scene.add("next", { delayMs: scene.steps(5) });
    const { queues } = await scene.broker.stats({ queues: ["q"], oldest: true });
    equal(queues[0]?.nextDueAt, (await scene.broker.job(id)).at, "when it is due");
  }),

  "the history tells a life in order": async (scene) => {
    await scene.queue({ retry: PROMPT });
    const id = await scene.add("x");
    await scene.nack(await scene.takeOne(), { error: "boom" });
    await scene.pass(1);
    await scene.broker.giveBack([(await scene.takeOne()).lease]);
    await scene.pass(1);
    await scene.ack(await scene.takeOne());
    const history = await scene.broker.history(id);
    // Of the dispatches only the last is sure to be kept: the others show in what came of them.
    const life = ["added", "failed", "returned", "dispatched", "ended"];
    inOrder(
      history.map(({ event }) => event),
      life,
      "the events",
    );
    for (const [i, { at }] of history.entries()) {
      check(at >= (history[i - 1]?.at ?? at), "times in a history must not go back");
    }
    const failed = history.find(({ event }) => event === "failed");
    check(failed?.detail?.includes("boom") === true, "the history must tell the error");
  },

  "a caller that waits for a job hears of its end, with the result": onQueue(async (scene) => {
    const id = await scene.add("x");
    const end = scene.broker.ended(id);
    await scene.waits(end, "the end of a waiting job");
    const job = await scene.takeOne();
    await scene.waits(end, "the end of a running job");
    await scene.ack(job, bytes("42"));
    const heard = await scene.atOnce(end, "the end");
    matches(heard, { id, queue: "q", state: "finished", result: bytes("42") }, "the end");
    scene.near(heard.at, scene.now(), "the time of the end");
  }),

  "the end of a job that is kept is reported at once": onQueue(async (scene) => {
    const id = await scene.add("x");
    await scene.ack(await scene.takeOne(), bytes("42"));
    const end = await scene.atOnce(scene.broker.ended(id), "the end");
    matches(end, { id, state: "finished", result: bytes("42") }, "the end");
  }),

  "waiting for an end can be given up": onQueue(async (scene) => {
    const id = await scene.add("x");
    const giveUp = new AbortController();
    const end = scene.broker.ended(id, { signal: giveUp.signal });
    await scene.waits(end, "the end");
    giveUp.abort();
    await rejects(scene.atOnce(end, "the end"), "ABORTED", "the end");
  }),

  "a caller that waits for a job of a queue that is deleted does not wait on": onQueue(
    async (scene) => {
      const id = await scene.add("x");
      const end = scene.broker.ended(id).then(
        ({ state }) => state as string,
        (error) => error.code as string,
      );
      await scene.waits(end, "the end");
      await scene.broker.deleteQueue("q");
      const how = await scene.atOnce(end, "the end");
      const known = ["cancelled", "JOB_NOT_FOUND", "QUEUE_NOT_FOUND"].includes(how);
      check(known, `the job must end as cancelled or not be found, got ${how}`);
    },
  ),
});

export const listing = cases("jobs", {
  "jobs are listed by state": onQueue(async (scene) => {
    await scene.addAll(["finished", "running", "waiting"]);
    await scene.ack(await scene.takeOne());
    await scene.takeOne();
    await scene.add("delayed", { delayMs: scene.steps(50) });
    for (const state of ["finished", "running", "waiting", "delayed"] as const) {
      const jobs = await listed(scene, { state });
      equal(jobs.map(textOf), [state], `the jobs that are ${state}`);
      equal(jobs[0]?.state, state, "the state of the job");
    }
    equal(await listed(scene, { state: "blocked" }), [], "the jobs that wait for other jobs");
    equal((await listed(scene, {})).length, 4, "the jobs in all states");
  }),

  "jobs are listed by lane": onQueue(async (scene) => {
    await scene.addAll(["a1", "a2"], { fairnessKey: "a" });
    await scene.addAll(["b1"], { fairnessKey: ["b", "c"] });
    equal((await listed(scene, { lane: "a" })).map(textOf).sort(), ["a1", "a2"], "lane a");
    equal((await listed(scene, { lane: ["b", "c"] })).map(textOf), ["b1"], "lane b, c");
  }),

  "pages hold each job once, and the last has no cursor": onQueue(async (scene) => {
    const ids = await scene.addAll(Array.from({ length: 25 }, (_, i) => `${i}`));
    const jobs = await listed(scene, { limit: 10 });
    equal(jobs.map(({ id }) => id).sort(), [...ids].sort(), "the jobs of all pages");
  }),

  "a queue that does not exist has no jobs": async (scene) => {
    await rejects(scene.broker.jobs("nowhere"), "QUEUE_NOT_FOUND", "the call");
  },
});
