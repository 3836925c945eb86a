import type { DependencyInfo, FlowJob } from "../flow.ts";
import { cases, durableCases, onQueue } from "./case.ts";
import { bytes, each, equal, refused, rejects, textOf } from "./check.ts";
import type { Scene } from "./scene.ts";

/** A job of a flow in queue "q"; those that it waits for by their places. */
function job(payload: string, after: readonly number[] = []): FlowJob {
  const made: FlowJob = { queue: "q", payload: bytes(payload) };
  return after.length === 0 ? made : { ...made, after: after.map((place) => ({ job: place })) };
}

async function stateOf(scene: Scene, id: string): Promise<string> {
  return (await scene.broker.job(id)).state;
}

async function resultsOf(scene: Scene, id: string): Promise<(string | undefined)[]> {
  const { items } = await scene.broker.dependencies(id);
  return items.map(({ result }: DependencyInfo) => result && new TextDecoder().decode(result));
}

/** Runs all that can run, with its payload as its result; answers the payloads in order. */
async function work(scene: Scene): Promise<string[]> {
  const done: string[] = [];
  for (;;) {
    await scene.settle();
    const jobs = await scene.take(100);
    if (jobs.length === 0) return done;
    for (const one of jobs) {
      await scene.ack(one, one.payload);
      done.push(textOf(one));
    }
  }
}

export const waiting = cases("flows", {
  "a job runs after those that it names, and reads their results": onQueue(async (scene) => {
    const first = await scene.add("a");
    const second = await scene.add("b");
    const last = await scene.add("c", { after: [{ id: first }, { id: second }] });
    equal(await stateOf(scene, last), "blocked", "its state");
    const [one, other] = await scene.take(10);
    await scene.ack(one!, bytes("1"));
    await scene.expect([], "what runs before the second has finished");
    await scene.ack(other!, bytes("2"));
    await scene.settle();
    const taken = await scene.takeOne();
    equal(taken.id, last, "what runs then");
    equal(await resultsOf(scene, last), ["1", "2"], "the results of its dependencies");
    await scene.ack(taken);
  }),

  "a failed dependency fails those that wait for it, and theirs": onQueue(async (scene) => {
    const first = await scene.add("a", { attempts: 1 });
    const second = await scene.add("b", { after: [{ id: first }] });
    const third = await scene.add("c", { after: [{ id: second }] });
    await scene.nack(await scene.takeOne(), { error: "boom" });
    await scene.settle();
    equal(await stateOf(scene, second), "failed", "the state of its dependent");
    equal(await stateOf(scene, third), "failed", "the state of that one's");
  }),

  "a cancelled dependency counts as failed": onQueue(async (scene) => {
    const first = await scene.add("a");
    const second = await scene.add("b", { after: [{ id: first }] });
    await scene.broker.cancel([first]);
    const end = await scene.atOnce(scene.broker.ended(second), "its end");
    equal(end.state, "failed", "the state of its dependent");
    equal(end.error?.includes("cancelled"), true, "whether its error says why");
  }),

  'a job with "run" runs all the same': onQueue(async (scene) => {
    const first = await scene.add("a");
    await scene.add("b", { after: [{ id: first, onDependencyFailure: "run" }] });
    await scene.broker.cancel([first]);
    equal(await work(scene), ["b"], "what runs");
  }),

  'a job with "wait" runs when the dead letter is retried and finishes': onQueue(async (scene) => {
    const first = await scene.add("a", { attempts: 1 });
    await scene.add("b", { after: [{ id: first, onDependencyFailure: "wait" }] });
    await scene.nack(await scene.takeOne(), { error: "boom" });
    equal(await work(scene), [], "what runs while it is dead");
    await scene.broker.retry([first]);
    equal(await work(scene), ["a", "b"], "what runs after the retry");
  }),

  "a job to wait for that is not there is refused": onQueue(async (scene) => {
    const outcome = await scene.tryAdd("a", { after: [{ id: "c999" }] });
    refused(outcome, "JOB_NOT_FOUND", "the add");
  }),

  "a job that names none to wait for runs at once, and has no dependencies": onQueue(
    async (scene) => {
      const id = await scene.add("a", { after: [] });
      equal((await scene.takeOne()).id, id, "what runs");
      equal((await scene.broker.dependencies(id)).items, [], "its dependencies");
    },
  ),

  "why names the job that is waited for": onQueue(async (scene) => {
    const first = await scene.add("a");
    const second = await scene.add("b", { after: [{ id: first }] });
    const why = await scene.broker.why(second);
    equal(why.state, "blocked", "the state");
    equal(why.text.includes(first), true, `whether "${why.text}" names it`);
  }),

  "dependents are the jobs that wait": onQueue(async (scene) => {
    const first = await scene.add("a");
    const ids = await scene.addAll(["b", "c"], { after: [{ id: first }] });
    equal(each((await scene.broker.dependents(first)).items, "id"), ids, "its dependents");
  }),

  "dependencies are read page by page": onQueue(async (scene) => {
    const ids = await scene.addAll(["a", "b", "c"]);
    const last = await scene.add("d", { after: ids.map((id) => ({ id })) });
    const page = await scene.broker.dependencies(last, { limit: 2 });
    const rest = await scene.broker.dependencies(last, { limit: 2, cursor: page.cursor! });
    equal([...each(page.items, "id"), ...each(rest.items, "id")], ids, "both pages");
    equal(rest.cursor, undefined, "the cursor of the last");
  }),
});

export const adding = cases("flows", {
  "a flow is added as a graph in any order": onQueue(async (scene) => {
    const jobs = [job("d", [1, 2]), job("b", [3]), job("c", [3]), job("a")];
    const added = await scene.broker.addFlow("q", jobs);
    equal(added.jobs.length, 4, "the number of answers");
    equal(await work(scene), ["a", "b", "c", "d"], "the order in which they run");
    equal(await stateOf(scene, added.jobs[0]!.id), "finished", "the state of the first answer's");
  }),

  "a flow may go over queues and follow jobs that exist": onQueue(async (scene) => {
    await scene.queue({}, "r");
    const first = await scene.add("a");
    const jobs: FlowJob[] = [
      { queue: "r", payload: bytes("b"), after: [{ id: first }] },
      job("c", [0]),
    ];
    const adding = scene.broker.addFlow("q", jobs);
    const refusal = await adding.then(
      () => undefined,
      (error: Error) => error.message,
    );
    equal(refusal, undefined, "a refusal of the flow");
    equal(await work(scene), ["a"], "what runs in the first queue");
    const taken = await scene.takeOne("r");
    equal(textOf(taken), "b", "what runs in the second queue");
    await scene.ack(taken);
    equal(await work(scene), ["c"], "what runs then");
  }),

  "a flow with a job that is refused adds none": onQueue(async (scene) => {
    const jobs = [job("a"), { ...job("b", [0]), weight: 0 }];
    await rejects(scene.broker.addFlow("q", jobs), "INVALID", "the flow");
    const missing = [job("a"), { ...job("b"), after: [{ id: "c999" }] }];
    await rejects(scene.broker.addFlow("q", missing), "JOB_NOT_FOUND", "the other flow");
    equal(await work(scene), [], "what runs");
  }),

  "a cycle is refused": onQueue(async (scene) => {
    const jobs = [job("a", [1]), job("b", [0])];
    await rejects(scene.broker.addFlow("q", jobs), "INVALID", "the flow");
    await rejects(scene.broker.addFlow("q", [job("a", [0])]), "INVALID", "a job after itself");
  }),

  "a flow that is repeated under its operation id is added once": onQueue(async (scene) => {
    const jobs = [job("a"), job("b", [0])];
    const first = await scene.broker.addFlow("q", jobs, { operationId: "flow-1" });
    const again = await scene.broker.addFlow("q", jobs, { operationId: "flow-1" });
    equal(again, first, "the second answer");
    equal(await work(scene), ["a", "b"], "what runs");
  }),

  "nothing in an open flow runs before it is sealed": onQueue(async (scene) => {
    const { flow } = await scene.broker.openFlow("q");
    const { jobs } = await scene.broker.addFlow("q", [job("a")], { flow });
    const after = [{ id: jobs[0]!.id }];
    await scene.broker.addFlow("q", [{ ...job("b"), after }], { flow });
    equal(await work(scene), [], "what runs before");
    await scene.broker.sealFlow(flow);
    equal(await work(scene), ["a", "b"], "what runs then");
    await rejects(scene.broker.sealFlow(flow), "CONFLICT", "a second seal");
  }),

  "a job is cancelled with what it waits for, but for what others need": onQueue(async (scene) => {
    const jobs = [job("deep"), job("own", [0]), job("shared"), job("top", [1, 2]), job("x", [2])];
    const added = await scene.broker.addFlow("q", jobs);
    const ids = added.jobs.map(({ id }) => id);
    const cancel = () => scene.broker.cancel([ids[3]!], { dependencies: true });
    equal(await cancel(), [{ ok: true }], "the answer");
    await scene.settle();
    const states = await Promise.all(ids.map((id) => stateOf(scene, id)));
    const gone = "cancelled";
    equal(states, [gone, gone, "waiting", gone, "blocked"], "the states");
    equal(await cancel(), [{ ok: false }], "the second answer");
    equal(await work(scene), ["shared", "x"], "what runs");
  }),

  "an open flow can be cancelled": onQueue(async (scene) => {
    const { flow } = await scene.broker.openFlow("q");
    const { jobs } = await scene.broker.addFlow("q", [job("a"), job("b", [0])], { flow });
    await scene.broker.cancelFlow(flow);
    await scene.settle();
    for (const { id } of jobs) equal(await stateOf(scene, id), "cancelled", `the state of ${id}`);
  }),
});

export const flowsSurvive = durableCases("flows survive", {
  "a blocked job runs after those that it waits for": onQueue(async (scene) => {
    const first = await scene.add("a");
    const done = await scene.add("b", { fairnessKey: "other" });
    const taken = (await scene.take(2)).find(({ id }) => id === done)!;
    await scene.ack(taken, bytes("of b"));
    const last = await scene.add("c", { after: [{ id: first }, { id: done }] });
    await scene.reopen();
    await scene.settle();
    equal(await stateOf(scene, last), "blocked", "its state");
    equal(await resultsOf(scene, last), [undefined, "of b"], "the results so far");
  }),

  "an open flow can be filled and sealed": onQueue(async (scene) => {
    const { flow } = await scene.broker.openFlow("q");
    const { jobs } = await scene.broker.addFlow("q", [job("a")], { flow });
    await scene.reopen();
    const after = [{ id: jobs[0]!.id }];
    await scene.broker.addFlow("q", [{ ...job("b"), after }], { flow });
    await scene.broker.sealFlow(flow);
    equal(await work(scene), ["a", "b"], "what runs");
  }),
});
