// What the stage has in addition to the demo: queues that do not move, each for its own reason.

import type { DashboardServer } from "./server.ts";

export interface Scene {
  // A job that failed once and is dead.
  readonly failedId: string;
  // A job in the middle of a flow.
  readonly flowId: string;
  // A job that waits for a signal after its first step.
  readonly stepsId: string;
}

export async function fillServer(server: DashboardServer): Promise<Scene> {
  await server.call("PUT /v1/queues/reports", {});
  await server.call("POST /v1/queues/reports/jobs", {
    jobs: Array.from({ length: 40 }, (_, i) => ({ payload: { report: i }, fairnessKey: "acme" })),
  });
  await server.call("PUT /v1/queues/invoices", { paused: true });
  await server.call("POST /v1/queues/invoices/jobs", { payload: { invoice: 1 } });
  await server.call("PUT /v1/config/limits", { value: { acme: 5 } });
  await server.call("PUT /v1/queues/nightly", {});
  await server.call("POST /v1/queues/nightly/jobs", { payload: { sweep: 1 }, delay: "1h" });
  await gated(server);
  // Of queues that there are not: it is called for nothing.
  const hook = { url: "https://ops.example.com/hook", name: "pager", queues: ["orders.*"] };
  await server.call("POST /v1/webhooks", hook);
  await server.call("PUT /v1/queues/outdated", {});
  await server.call("POST /v1/queues/outdated/purge", {});
  const failedId = await fail(server);
  return { failedId, flowId: await flow(server), stepsId: await steps(server) };
}

// A flow that nothing works on: its first job waits for a worker, the others for it.
async function flow(server: DashboardServer): Promise<string> {
  await server.call("PUT /v1/queues/albums", { paused: true });
  const widths = [400, 800, 1600];
  const jobs = [
    { queue: "albums", payload: { fetch: "cat.jpg" } },
    ...widths.map((width) => ({ queue: "albums", payload: { width }, after: [{ job: 0 }] })),
    {
      queue: "albums",
      payload: { publish: "cats" },
      group: "spring",
      after: widths.map((_, i) => ({ job: i + 1, onDependencyFailure: "run" })),
    },
  ];
  const { body } = await server.call("POST /v1/queues/albums/flows", { jobs });
  return body.jobs[1].id;
}

// A job that has done a step and waits for a person.
async function steps(server: DashboardServer): Promise<string> {
  await server.call("PUT /v1/queues/approvals", {});
  const { id } = (await server.call("POST /v1/queues/approvals/jobs", { payload: { page: 7 } }))
    .body;
  const { jobs } = (await server.call("POST /v1/queues/approvals/lease", { max: 1 })).body;
  const { lease } = jobs[0];
  const draft = { lease, name: "draft", occurrence: 0, value: { words: 420 } };
  await server.call("POST /v1/steps", { items: [draft] });
  const wait = { lease, name: "approved", occurrence: 0, kind: "wait" };
  await server.call("POST /v1/suspend", { items: [wait] });
  return id;
}

// All jobs of `search` wait for a gate that cools down, and a worker waits for them.
async function gated(server: DashboardServer): Promise<void> {
  await server.call("PUT /v1/queues/search", {});
  await server.call("PUT /v1/gates/indexer:alpha", {
    rate: 2,
    windows: [{ limit: 100, per: 60_000 }],
  });
  await server.call("POST /v1/gates/indexer:alpha/cooldown", {
    duration: "1h",
    reason: "429 from the indexer",
  });
  await server.call("POST /v1/queues/search/jobs", {
    jobs: ["a", "b", "c"].map((fairnessKey) => ({
      payload: { q: fairnessKey },
      fairnessKey,
      gates: ["indexer:alpha"],
    })),
  });
  poll(server);
}

// A worker that waits and is never given anything.
function poll(server: DashboardServer): void {
  server
    .call("POST /v1/queues/search/lease", { max: 1, wait: 60_000, worker: "searcher-1" })
    .then(() => poll(server))
    .catch(() => undefined);
}

async function fail(server: DashboardServer): Promise<string> {
  await server.call("PUT /v1/queues/orders", { retry: { attempts: 2, min: 0 } });
  const body = { payload: { order: 17 }, fairnessKey: "acme", headers: { tenant: "acme" } };
  const added = await server.call("POST /v1/queues/orders/jobs", body);
  for (const error of ["the payment service answered 503", "it answered 503 again"]) {
    const lease = { max: 1, worker: "packer-1", wait: 5_000 };
    const { jobs } = (await server.call("POST /v1/queues/orders/lease", lease)).body;
    await server.call("POST /v1/nack", { items: [{ lease: jobs[0].lease, error }] });
  }
  return added.body.id;
}
