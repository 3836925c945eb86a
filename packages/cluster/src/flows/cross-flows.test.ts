import assert from "node:assert/strict";
import { test } from "node:test";
import type { DependencyInfo, FlowAfter, FlowJob, LeasedJob } from "@sluice/protocol";
import { homeOfQueue } from "../hash.ts";
import { job, type Stage, stage, textOf } from "../testing/stage.ts";
import { LINKS } from "./link-jobs.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Two queues at home in different partitions, and a third. */
const QUEUES = ["q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "q8", "q9"];
const [HERE, THERE, ELSEWHERE] = [0, 1, 2].map(
  (partition) => QUEUES.find((queue) => homeOfQueue(queue, 4) === partition)!,
) as [string, string, string];

async function staged(): Promise<Stage> {
  const stages = stage();
  for (const queue of [HERE, THERE, ELSEWHERE]) {
    await stages.router.setQueue(queue, { retry: { attempts: 1 } });
  }
  return stages;
}

async function add(
  { router }: Stage,
  queue: string,
  text: string,
  after?: FlowAfter[],
): Promise<string> {
  const waits = after === undefined ? {} : { after: after as { id: string }[] };
  const [outcome] = await router.add(queue, [job(text, waits)]);
  assert.equal(outcome!.error, undefined);
  return outcome!.ok!.id;
}

function flowJob(queue: string, text: string, after: FlowAfter[] = []): FlowJob {
  return { queue, payload: encoder.encode(text), after };
}

/** Lets messages go from partition to partition. */
async function settled({ clock }: Stage): Promise<void> {
  for (let i = 0; i < 20; i++) await clock.advance(0);
}

async function take(one: Stage, queue: string): Promise<LeasedJob[]> {
  await settled(one);
  return one.router.lease(queue, { worker: "w", max: 100 });
}

async function finish({ router }: Stage, { lease }: LeasedJob, result: string): Promise<void> {
  const [outcome] = await router.ack([{ lease, result: encoder.encode(result) }]);
  assert.equal(outcome!.error, undefined);
}

async function ends({ router }: Stage, ids: readonly string[]): Promise<string[]> {
  return Promise.all(ids.map(async (id) => (await router.job(id)).state));
}

const shown = ({ id, queue, state, result }: DependencyInfo): unknown[] => [
  id,
  queue,
  state,
  result && decoder.decode(result),
];

test("a job waits for one of another partition, and reads its result", async () => {
  const one = await staged();
  const first = await add(one, HERE, "first");
  const last = await add(one, THERE, "last", [{ id: first }]);
  assert.deepEqual(await take(one, THERE), []);
  const { state, text } = await one.router.why(last);
  assert.equal(state, "blocked");
  assert.ok(text.includes(`job ${first} of queue ${HERE}`), text);
  assert.deepEqual((await one.router.dependents(first)).items.map(shown), [
    [last, THERE, "blocked", undefined],
  ]);
  const [taken] = await take(one, HERE);
  await finish(one, taken!, "42");
  const [dependent] = await take(one, THERE);
  assert.equal(dependent!.id, last);
  assert.deepEqual((await one.router.dependencies(last)).items.map(shown), [
    [first, HERE, "finished", "42"],
  ]);
});

test("a result of several pieces arrives as it was", async () => {
  const one = await staged();
  const first = await add(one, HERE, "first");
  const last = await add(one, THERE, "last", [{ id: first }]);
  const [taken] = await take(one, HERE);
  const result = "é".repeat(512 * 1024);
  await finish(one, taken!, result);
  await take(one, THERE);
  const [info] = (await one.router.dependencies(last)).items;
  assert.equal(decoder.decode(info!.result), result);
});

test("a job that ended before is waited for too, and one that is unknown is refused", async () => {
  const one = await staged();
  const first = await add(one, HERE, "first");
  const [taken] = await take(one, HERE);
  await finish(one, taken!, "early");
  const last = await add(one, THERE, "last", [{ id: first }]);
  assert.equal((await take(one, THERE))[0]!.id, last);
  const unknown = `${first.slice(0, 2)}c999999`;
  const [outcome, other] = await one.router.add(THERE, [
    job("x", { after: [{ id: unknown }] }),
    job("y"),
  ]);
  assert.equal(outcome!.error!.code, "JOB_NOT_FOUND");
  assert.equal(other!.error, undefined);
});

test("a numbered call that waits for another partition is answered again after hours", async () => {
  const one = await staged();
  const first = await add(one, HERE, "first");
  const after = [{ id: first }];
  const options = { operationId: "numbered:relay:1" };
  const flow = [flowJob(ELSEWHERE, "begin", after), flowJob(THERE, "end", [{ job: 0 }])];
  const added = await one.router.add(THERE, [job("last", { after })], options);
  const of = { operationId: "numbered:flows:1" };
  const whole = await one.router.addFlow(HERE, flow, of);
  await one.clock.advance(3_600_000);
  assert.deepEqual(await one.router.add(THERE, [job("last", { after })], options), added);
  assert.deepEqual(await one.router.addFlow(HERE, flow, of), whole);
});

test("a failure in another partition fails, is ignored, or is waited out", async () => {
  const one = await staged();
  const first = await add(one, HERE, "first");
  const fails = await add(one, THERE, "fails", [{ id: first }]);
  const runs = await add(one, THERE, "runs", [{ id: first, onDependencyFailure: "run" }]);
  const waits = await add(one, THERE, "waits", [{ id: first, onDependencyFailure: "wait" }]);
  const [taken] = await take(one, HERE);
  await one.router.nack([{ lease: taken!.lease, error: "boom" }]);
  assert.deepEqual((await take(one, THERE)).map(textOf), ["runs"]);
  assert.deepEqual(await ends(one, [fails, runs, waits]), ["failed", "running", "blocked"]);
  const { error } = await one.router.job(fails);
  assert.match(error!, new RegExp(`job ${first} is dead: boom`));
  await one.router.retry([first]);
  const [again] = await take(one, HERE);
  await finish(one, again!, "at last");
  assert.deepEqual((await take(one, THERE)).map(textOf), ["waits"]);
});

test("a flow over partitions runs in order, and not before it is sealed", async () => {
  const one = await staged();
  const { flow } = await one.router.openFlow(HERE);
  const jobs = [
    flowJob(HERE, "publish", [{ job: 1 }, { job: 2 }]),
    flowJob(THERE, "small", [{ job: 3 }]),
    flowJob(ELSEWHERE, "large", [{ job: 3 }]),
    flowJob(THERE, "fetch"),
  ];
  const added = await one.router.addFlow(HERE, jobs, { flow });
  const [publish, small, large, fetch] = added.jobs.map(({ id }) => id);
  for (const queue of [HERE, THERE, ELSEWHERE]) assert.deepEqual(await take(one, queue), []);
  assert.match((await one.router.why(fetch!)).text, /Its flow is not sealed/);
  assert.deepEqual((await one.router.dependencies(fetch!)).items, []);
  await one.router.sealFlow(flow);
  const [begin] = await take(one, THERE);
  assert.equal(begin!.id, fetch);
  await finish(one, begin!, "f");
  const [left] = await take(one, THERE);
  const [right] = await take(one, ELSEWHERE);
  assert.deepEqual([left!.id, right!.id], [small, large]);
  await finish(one, left!, "s");
  assert.deepEqual(await take(one, HERE), []);
  await finish(one, right!, "l");
  assert.equal((await take(one, HERE))[0]!.id, publish);
  const read = await one.router.dependencies(publish!);
  assert.deepEqual(
    read.items.map(({ id, result }) => [id, decoder.decode(result)]),
    [
      [small, "s"],
      [large, "l"],
    ],
  );
});

test("a flow that is cancelled, or never sealed, runs in no partition", async () => {
  const one = await staged();
  for (const how of ["cancel", "wait"]) {
    const { flow } = await one.router.openFlow(HERE);
    const jobs = [flowJob(THERE, "a"), flowJob(HERE, "b", [{ job: 0 }]), flowJob(ELSEWHERE, "c")];
    const added = await one.router.addFlow(HERE, jobs, { flow });
    if (how === "cancel") await one.router.cancelFlow(flow);
    else await one.clock.advance(10 * 60_000);
    await settled(one);
    const ids = added.jobs.map(({ id }) => id);
    assert.deepEqual(await ends(one, ids), ["cancelled", "cancelled", "cancelled"], how);
  }
});

/** A chain over three partitions, and a job of each that another job waits for too. */
async function chained(one: Stage): Promise<{ top: string; ours: string[]; kept: string[] }> {
  const jobs = [
    flowJob(ELSEWHERE, "deepest"),
    flowJob(THERE, "deep", [{ job: 0 }]),
    flowJob(HERE, "own", [{ job: 1 }]),
    flowJob(THERE, "shared"),
    flowJob(HERE, "top", [{ job: 2 }, { job: 3 }]),
    flowJob(HERE, "other", [{ job: 3 }]),
  ];
  const { jobs: added } = await one.router.addFlow(HERE, jobs);
  await settled(one);
  const [deepest, deep, own, shared, top, other] = added.map(({ id }) => id);
  return { top: top!, ours: [top!, own!, deep!, deepest!], kept: [shared!, other!] };
}

test("a job is cancelled with what it waits for in other partitions", async () => {
  const one = await staged();
  const { top, ours, kept } = await chained(one);
  const cancel = () => one.router.cancel([top], { dependencies: true });
  assert.deepEqual(await cancel(), [{ ok: true }]);
  await settled(one);
  assert.deepEqual(
    await ends(one, ours),
    ours.map(() => "cancelled"),
  );
  assert.deepEqual(await ends(one, kept), ["waiting", "blocked"]);
  assert.deepEqual(await cancel(), [{ ok: false }]);
  const [shared] = await take(one, THERE);
  await finish(one, shared!, "s");
  assert.deepEqual((await take(one, HERE)).map(textOf), ["other"]);
});

test("a cancelled job that others wait for over partitions leaves what they need", async () => {
  const one = await staged();
  const first = await add(one, HERE, "first");
  const mine = await add(one, THERE, "mine", [{ id: first }]);
  const theirs = await add(one, ELSEWHERE, "theirs", [{ id: first }]);
  await one.router.cancel([mine], { dependencies: true });
  await settled(one);
  assert.deepEqual(await ends(one, [mine, first, theirs]), ["cancelled", "waiting", "blocked"]);
  await one.router.cancel([theirs], { dependencies: true });
  await settled(one);
  assert.deepEqual(await ends(one, [first, theirs]), ["cancelled", "cancelled"]);
});

test("what a cancelled job waits for is cancelled though partitions crash meanwhile", async () => {
  const one = await staged();
  const { top, ours, kept } = await chained(one);
  one.cluster.away.add(1);
  await one.cluster.drop(1, "crash");
  await one.router.cancel([top], { dependencies: true });
  await settled(one);
  assert.deepEqual(await ends(one, ours.slice(0, 2)), ["cancelled", "cancelled"]);
  await one.cluster.drop(0, "crash");
  one.cluster.away.delete(1);
  const asked = one.router.queues();
  await one.clock.advance(60_000);
  await asked;
  await settled(one);
  assert.deepEqual(
    await ends(one, ours),
    ours.map(() => "cancelled"),
  );
  assert.deepEqual(await ends(one, kept), ["waiting", "blocked"]);
});

test("a flow of which one job is refused leaves none that could run", async () => {
  const one = await staged();
  const bad = { ...flowJob(THERE, "bad", [{ job: 0 }]), weight: 0 };
  await assert.rejects(one.router.addFlow(HERE, [flowJob(ELSEWHERE, "a"), bad]), {
    code: "INVALID",
  });
  const missing = flowJob(THERE, "b", [{ id: "0-c999999" }]);
  await assert.rejects(one.router.addFlow(HERE, [flowJob(ELSEWHERE, "a"), missing]), {
    code: "JOB_NOT_FOUND",
  });
  for (const queue of [HERE, THERE, ELSEWHERE]) assert.deepEqual(await take(one, queue), []);
  const circle = [flowJob(HERE, "a", [{ job: 1 }]), flowJob(THERE, "b", [{ job: 0 }])];
  await assert.rejects(one.router.addFlow(HERE, circle), { code: "INVALID" });
});

test("ends arrive though partitions crash before, between and after", async () => {
  const one = await staged();
  const { cluster } = one;
  const first = await add(one, HERE, "first");
  const last = await add(one, THERE, "last", [{ id: first }]);
  for (const partition of [0, 1]) await cluster.drop(partition, "crash");
  const [taken] = await take(one, HERE);
  cluster.away.add(1);
  await cluster.drop(1, "crash");
  await finish(one, taken!, "late");
  await settled(one);
  await cluster.drop(0, "crash");
  cluster.away.delete(1);
  // A partition that was away is dialled again after a while.
  const asked = one.router.queues();
  await one.clock.advance(60_000);
  await asked;
  assert.equal((await take(one, THERE))[0]?.id, last);
});

test("a flow of 3,001 jobs in three partitions runs to its end", async () => {
  const one = await staged();
  const queues = [HERE, THERE, ELSEWHERE];
  const leaves = Array.from({ length: 3000 }, (_, i) => flowJob(queues[i % 3]!, `leaf ${i}`));
  const root = flowJob(
    HERE,
    "root",
    leaves.map((_, i) => ({ job: i })),
  );
  await one.router.addFlow(HERE, [...leaves, root]);
  let done = 0;
  for (let round = 0; round < 400 && done < 3001; round++) {
    for (const queue of queues) {
      for (const taken of await one.router.lease(queue, { worker: "w", max: 1000 })) {
        if (textOf(taken) === "root") assert.equal(done, 3000);
        await finish(one, taken, "x");
        done++;
      }
    }
    await settled(one);
  }
  assert.equal(done, 3001);
  const info = await one.router.queue(LINKS);
  assert.ok(info.stats.waiting === 0, "no message waits");
});
