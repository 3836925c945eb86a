import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type FlowTree, Sluice } from "./index.ts";

async function open(t: TestContext): Promise<Sluice> {
  const sluice = await Sluice.open({ durability: "memory" });
  t.after(() => sluice.close({ timeout: 0 }));
  await sluice.queue("q");
  return sluice;
}

const queue = "q";

test("a cycle is refused with the names along it", async (t) => {
  const sluice = await open(t);
  const jobs = {
    first: { queue, after: ["second"] },
    second: { queue, after: ["free", "third"] },
    third: { queue, after: ["second"] },
    free: { queue },
  };
  await assert.rejects(sluice.flow({ jobs }), {
    code: "INVALID",
    message: 'jobs.second.after must be free of cycles, got "second > third > second"',
  });
  await assert.rejects(sluice.flow({ jobs: { a: { queue, after: ["a"] } } }), {
    message: 'jobs.a.after must be free of cycles, got "a > a"',
  });
});

test("a misspelt name of a job is refused with those that there are", async (t) => {
  const sluice = await open(t);
  const jobs = { fetch: { queue }, publish: { queue, after: ["fech"] } };
  await assert.rejects(sluice.flow({ jobs }), {
    code: "JOB_NOT_FOUND",
    message: /"fech", which jobs.publish.after names: name a job of the flow \(fetch, publish\)/,
  });
});

test("a flow without jobs is refused as such", async (t) => {
  const sluice = await open(t);
  await assert.rejects(sluice.flow({ jobs: {} }), { code: "INVALID", message: /at least one job/ });
});

test("a tree may be as deep as a flow has jobs, and has an end", async (t) => {
  const sluice = await open(t);
  let tree: FlowTree = { queue, payload: 0 };
  for (let i = 1; i < 10_000; i++) tree = { queue, payload: i, children: [tree] };
  const { jobs, root } = await sluice.flow(tree);
  assert.equal(jobs.length, 10_000);
  assert.equal(root.id, jobs[0]!.id);
  const endless: FlowTree = { queue, children: [] };
  endless.children = [endless];
  await assert.rejects(sluice.flow(endless), { code: "INVALID", message: /at most 10000 jobs/ });
});

test("a flow that is not open any more is named as its caller knows it", async (t) => {
  const sluice = await open(t);
  const flow = await sluice.openFlow(queue);
  await flow.seal();
  const name = flow.id.slice(flow.id.indexOf("/") + 1);
  await assert.rejects(flow.seal(), {
    code: "CONFLICT",
    message: new RegExp(`flow ${name} is not open`),
  });
});

test("an option that is refused is named with its job", async (t) => {
  const sluice = await open(t);
  const jobs = { first: { queue: "q" }, second: { queue: "q", delay: "soon" } };
  const own = { code: "INVALID", details: { field: "jobs.second.delay", value: "soon" } };
  await assert.rejects(sluice.flow({ jobs } as never), own);
  const cost = { first: { queue: "q" }, second: { queue: "q", cost: 0 } };
  const checked = { code: "INVALID", details: { field: "jobs.1.cost", value: 0 } };
  await assert.rejects(sluice.flow({ jobs: cost }), checked);
});

test("what is no flow, and fields that a flow has not, are refused by name", async (t) => {
  const sluice = await open(t);
  const other = await (await sluice.queue("other")).add(1);
  const cases: [flow: unknown, message: RegExp][] = [
    [undefined, /^flow must be a tree of jobs, or an object with jobs, got undefined/],
    ["q", /^flow must be a tree of jobs, or an object with jobs, got "q"/],
    [{ jobs: { a: { queue } }, queues: 1 }, /^flow.queues is not a known field; known are jobs$/],
    [{ queue, childs: [] }, /^flow.childs is not .* known are queue, payload, children, /],
    [{ queue, children: [{ queue, after: [other.id] }] }, /^flow.children.0.after is not a known/],
    [
      { name: "root", queueName: queue },
      /^flow.name is not .*: jobs have no name.* known are queue,/,
    ],
    [{ queueName: queue, data: 1 }, /^flow.queueName is not a known field: use queue; known are /],
    [{ jobs: { a: { queue, children: [] } } }, /^jobs.a.children is not .* known are queue, /],
  ];
  for (const [flow, message] of cases) {
    await assert.rejects(sluice.flow(flow as FlowTree), { code: "INVALID", message });
  }
});
