import type { ScheduleOptions } from "../options/schedule-options.ts";
import type { ScheduleInfo } from "../schedule.ts";
import { cases, durableCases, onQueue } from "./case.ts";
import { check, each, equal, matches, rejects } from "./check.ts";
import type { Scene } from "./scene.ts";

/** A schedule "s" of the queue "q" that ticks after so many steps each. */
async function ticking(
  scene: Scene,
  steps: readonly number[],
  options: ScheduleOptions = {},
): Promise<number[]> {
  const at = steps.map((step) => scene.now() + scene.steps(step));
  await scene.broker.setSchedule("q", "s", { at, payload: "tick", ...options });
  return at;
}

const JOB = '"tick"';

export const scheduling = cases("schedules", {
  "each tick adds one job, with the payload, the tick and the name as its lane": onQueue(
    async (scene) => {
      const [first, second] = await ticking(scene, [3, 6]);
      await scene.expect([], "what there is before the first tick");
      await scene.pass(4);
      const [job] = await scene.expect([JOB], "what the first tick added");
      const headers = { "sluice-schedule": "s", "sluice-tick": new Date(first!).toISOString() };
      matches(job, { fairnessKey: "s", headers }, "its job");
      matches(
        await scene.broker.job(job!.id),
        { schedule: { name: "s", tick: first } },
        "its tick",
      );
      await scene.ack(job!);
      const info = await scene.broker.schedule("q", "s");
      equal(info.next, [second], "the ticks to come");
      matches(info.lastTick, { tick: first, outcome: "added", id: job!.id }, "the last tick");
      matches(info.lastRun, { id: job!.id, state: "finished" }, "the last run");
      await scene.pass(3);
      await scene.expect([JOB], "what the second tick added");
      equal((await scene.broker.schedule("q", "s")).next, [], "the ticks to come at the end");
    },
  ),

  "options are those of a job": onQueue(async (scene) => {
    await ticking(scene, [2], { options: { fairnessKey: ["a", "b"], cost: 3, ttl: "1h" } });
    await scene.pass(3);
    const job = await scene.takeOne();
    matches(await scene.broker.job(job.id), { fairnessKey: ["a", "b"], cost: 3 }, "the job");
  }),

  "a tick while a run has not ended is skipped, and told with its reason": onQueue(
    async (scene) => {
      const listener = await scene.listen({ events: ["ticked", "tick-skipped"] });
      const [, second] = await ticking(scene, [2, 4]);
      await scene.pass(6);
      await scene.expect([JOB], "the jobs of both ticks");
      const told = { queue: "q", schedule: "s", tick: second, reason: "overlap" };
      matches(await listener.hears("tick-skipped", "the second tick"), told, "the second tick");
      equal(listener.names, ["ticked", "tick-skipped"], "what was reported");
    },
  ),

  "overlap: wait holds a tick until the run has ended": onQueue(async (scene) => {
    await ticking(scene, [2, 4], { overlap: "wait" });
    await scene.pass(6);
    const [job] = await scene.expect([JOB], "the job of the first tick");
    await scene.ack(job!);
    await scene.settle();
    await scene.expect([JOB], "the job of the tick that was held");
  }),

  "a run that dies ends nothing": onQueue(async (scene) => {
    await ticking(scene, [2, 6], { options: { attempts: 1 } });
    await scene.pass(3);
    await scene.nack(await scene.takeOne(), { error: "boom" });
    const { lastRun, paused } = await scene.broker.schedule("q", "s");
    matches({ paused, ...lastRun }, { paused: false, state: "dead", error: "boom" }, "the run");
    await scene.pass(5);
    await scene.expect([JOB], "what the next tick added");
  }),

  "pauseOnFailure pauses after a run that died": onQueue(async (scene) => {
    await ticking(scene, [2, 6], { options: { attempts: 1 }, pauseOnFailure: true });
    await scene.pass(3);
    await scene.nack(await scene.takeOne(), { error: "boom" });
    const info = await scene.broker.schedule("q", "s");
    matches(info, { paused: true, pausedBy: "failure" }, "the schedule");
    await scene.pass(5);
    await scene.expect([], "what the next tick added");
  }),

  "a paused schedule skips its ticks until it is resumed": onQueue(async (scene) => {
    await ticking(scene, [2, 8]);
    await scene.broker.pauseSchedule("q", "s");
    await scene.broker.pauseSchedule("q", "s");
    await scene.pass(4);
    await scene.expect([], "what a paused schedule added");
    const info = await scene.broker.schedule("q", "s");
    matches(info.lastTick, { outcome: "paused" }, "the tick");
    matches(info, { paused: true, pausedBy: "call" }, "the schedule");
    await scene.broker.resumeSchedule("q", "s");
    await scene.pass(6);
    await scene.expect([JOB], "what it added after it was resumed");
  }),

  "a run by hand adds a job beside the ticks": onQueue(async (scene) => {
    await ticking(scene, [9]);
    const { id } = await scene.broker.runSchedule("q", "s");
    const [job] = await scene.expect([JOB], "what was run");
    equal(job!.id, id, "its id");
    equal((await scene.broker.schedule("q", "s")).added, 0, "jobs of ticks");
  }),

  "backfill adds a job for each tick of a range": onQueue(async (scene) => {
    await scene.broker.setSchedule("q", "s", { every: "1h", payload: "tick" });
    const hour = 3_600_000;
    const to = Math.floor(scene.now() / hour) * hour;
    equal(await scene.broker.backfillSchedule("q", "s", to - 2 * hour, to), 3, "its jobs");
    const jobs = await scene.expect([JOB, JOB, JOB], "what was added");
    const ticks = jobs.map(({ headers }) => Date.parse(headers["sluice-tick"]!));
    equal(ticks, [to - 2 * hour, to - hour, to], "their ticks");
    const late = scene.broker.backfillSchedule("q", "s", to, to + 9 * hour);
    await rejects(late, "INVALID", "a range in the future");
    const large = scene.broker.backfillSchedule("q", "s", 0, to);
    await rejects(large, "INVALID", "a range of too many ticks");
  }),

  "setting it again changes it in place, and a deleted one ticks no more": onQueue(
    async (scene) => {
      const [first] = await ticking(scene, [3, 6]);
      const options = { at: [first!, first! + scene.steps(3)], payload: "other" };
      const { config } = await scene.broker.setSchedule("q", "s", options);
      matches(config, { payload: "other", overlap: "skip", catchUp: "one" }, "its options");
      await scene.pass(4);
      await scene.ack((await scene.expect(['"other"'], "what it added"))[0]!);
      await scene.broker.deleteSchedule("q", "s");
      await scene.pass(4);
      await scene.expect([], "what it added after it was deleted");
      await rejects(scene.broker.schedule("q", "s"), "SCHEDULE_NOT_FOUND", "a deleted one");
      const deleting = scene.broker.deleteSchedule("q", "s");
      await rejects(deleting, "SCHEDULE_NOT_FOUND", "a deletion of none");
    },
  ),

  "what was answered can be set again": onQueue(async (scene) => {
    const options: ScheduleOptions = {
      cron: "0 3 * * *",
      timezone: "Europe/Berlin",
      payload: { a: [1, null] },
      options: { fairnessKey: "k", ttl: "2h" },
      catchUp: "all",
      catchUpWindow: "12h",
      overlap: "wait",
      jitter: "5s",
      from: 1000,
      until: 8e12,
      limit: 7,
      pauseOnFailure: true,
    };
    const { config, next } = await scene.broker.setSchedule("q", "s", options);
    check(next.length === 5, `five ticks to come, not ${next.length}`);
    equal((await scene.broker.setSchedule("q", "s", config)).config, config, "the options");
  }),

  "schedules are listed by queue and name, by page": async (scene) => {
    for (const queue of ["b", "a"]) {
      await scene.queue({}, queue);
      for (const name of ["y", "x"]) await scene.broker.setSchedule(queue, name, { every: "1h" });
    }
    const names = (items: readonly ScheduleInfo[]): string[] =>
      items.map(({ queue, name }) => `${queue}/${name}`);
    const first = await scene.broker.schedules({ limit: 3 });
    equal(names(first.items), ["a/x", "a/y", "b/x"], "the first page");
    check(first.cursor !== undefined, "the first page must have a cursor");
    const second = await scene.broker.schedules({ limit: 3, cursor: first.cursor });
    equal([names(second.items), second.cursor], [["b/y"], undefined], "the second page");
    equal(names((await scene.broker.schedules({ queue: "b" })).items), ["b/x", "b/y"], "of b");
    equal(names((await scene.broker.schedules({ name: "y" })).items), ["a/y", "b/y"], "of a name");
    const found = await scene.broker.schedules({ search: "Y" });
    equal(each(found.items, "queue"), ["a", "b"], "of a part of the name");
  },

  "what the queue drops is added by no call": onQueue(async (scene) => {
    await scene.broker.setQueue("q", { capacity: { jobs: 2 }, onFull: "drop" });
    const hour = 3_600_000;
    await scene.broker.setSchedule("q", "s", { every: hour, overlap: "allow" });
    const range = [scene.now() - 4 * hour, scene.now() - 1] as const;
    equal(await scene.broker.backfillSchedule("q", "s", ...range), 2, "jobs that were added");
    await rejects(scene.broker.runSchedule("q", "s"), "QUEUE_FULL", "a run");
  }),

  "what cannot be a schedule is refused": onQueue(async (scene) => {
    const { broker } = scene;
    const wrong: ScheduleOptions[] = [
      {},
      { cron: "* * * * *", every: "1m" },
      { cron: "nonsense" },
      { cron: "0 0 30 2 *" },
      { cron: "* * * * *", timezone: "Mars/Base" },
      { every: "1m", timezone: "UTC" },
      { every: "1ms" },
      { at: [1] },
      { every: "1m", options: { cost: 0 } },
      { every: "1m", until: 1 },
    ];
    for (const options of wrong) {
      await rejects(broker.setSchedule("q", "s", options), "INVALID", JSON.stringify(options));
    }
    await rejects(broker.setSchedule("q", "a b", { every: "1m" }), "INVALID", "a name");
    const nowhere = broker.setSchedule("none", "s", { every: "1m" });
    await rejects(nowhere, "QUEUE_NOT_FOUND", "a queue that is not there");
    await rejects(broker.runSchedule("q", "s"), "SCHEDULE_NOT_FOUND", "a run of none");
    await rejects(broker.pauseSchedule("q", "s"), "SCHEDULE_NOT_FOUND", "a pause of none");
  }),
});

export const schedulesSurvive = durableCases("schedules survive", {
  "ticks go on, and none makes a second job": onQueue(async (scene) => {
    await ticking(scene, [2, 20], { overlap: "allow" });
    await scene.pass(3);
    await scene.reopen();
    await scene.expect([JOB], "the job of the first tick");
    await scene.pass(20);
    await scene.expect([JOB], "the job of the second");
    equal((await scene.broker.schedule("q", "s")).added, 2, "jobs in all");
  }),

  "options, pauses and the last outcome stay": onQueue(async (scene) => {
    await ticking(scene, [2, 90]);
    await scene.pass(3);
    await scene.ack(await scene.takeOne());
    await scene.broker.pauseSchedule("q", "s");
    const before = await scene.broker.schedule("q", "s");
    await scene.reopen();
    equal(await scene.broker.schedule("q", "s"), before, "the schedule");
  }),

  "a run continues to hold up the next tick": onQueue(async (scene) => {
    await ticking(scene, [2, 20]);
    await scene.pass(3);
    await scene.reopen();
    await scene.pass(20);
    await scene.expect([JOB], "the jobs of both ticks");
    const { lastTick } = await scene.broker.schedule("q", "s");
    matches(lastTick, { outcome: "overlap" }, "the second tick");
  }),
});
