// The dashboard says why a queue does not move. These tests cause each of the reasons.

import { after, test } from "node:test";
import type { Page } from "playwright-core";
import { Stage } from "./stage.ts";

const stage = await Stage.start();
const { server } = stage;
let isOver = false;
after(async () => {
  isOver = true;
  await stage.close();
});

const HOUR_MS = 3_600_000;
const AT = /\d\d:\d\d(:\d\d)?/.source;

async function queue(name: string, jobs: readonly object[], options: object = {}): Promise<void> {
  await server.call(`PUT /v1/queues/${name}`, options);
  await server.call(`POST /v1/queues/${name}/jobs`, { jobs });
}

// Workers that poll for as long as the tests run, and do this with what they get.
function poll(name: string, work?: (lease: string) => Promise<unknown>): void {
  const lease = { max: 1, wait: 5_000, lease: HOUR_MS, worker: `worker of ${name}` };
  server
    .call(`POST /v1/queues/${name}/lease`, lease)
    .then(async ({ body }) => {
      for (const job of body.jobs ?? []) await work?.(job.lease);
      if (!isOver) poll(name, work);
    })
    .catch(() => undefined);
}

// As the overview says it, and as the page of the queue does.
async function says(name: string, words: RegExp): Promise<void> {
  await stage.look("", async (page: Page) => {
    const link = page.getByRole("link", { name, exact: true });
    await page.getByRole("row").filter({ has: link }).getByText(words).waitFor();
    await link.click();
    await page.locator("p.standing").getByText(words).waitFor();
  });
}

const pass = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

test("no worker takes its jobs", async () => {
  await queue("lonely", [{ payload: 1 }]);
  await says("lonely", /^no workers$/);
});

test("an operator has paused it", async () => {
  await queue("stopped", [{ payload: 1 }], { paused: true });
  await says("stopped", /^paused$/);
});

test("nothing is due yet", async () => {
  await queue("later", [{ payload: 1, delay: HOUR_MS }]);
  await says("later", new RegExp(`^nothing is due until ${AT}$`));
});

test("one gate keeps all of it, with its reason and its end", async () => {
  await server.call("POST /v1/gates/alpha/cooldown", {
    duration: HOUR_MS,
    reason: "429 from alpha",
  });
  await queue("gated", [{ payload: 1, gates: ["alpha"] }]);
  poll("gated");
  await says(
    "gated",
    new RegExp(`^all gated by alpha \\(a cooldown\\) until ${AT}: 429 from alpha$`),
  );
});

test("several gates keep it: each is named, not only that of the oldest job", async () => {
  await server.call("POST /v1/gates/beta/cooldown", { duration: 2 * HOUR_MS });
  await server.call("PUT /v1/gates/shut", { rate: 0 });
  const job = (fairnessKey: string, gate: string) => ({ payload: 1, fairnessKey, gates: [gate] });
  await queue("several", [job("a", "beta"), job("b", "shut"), job("c", "shut")]);
  poll("several");
  const shut = "2 lanes by shut, which is closed \\(a rate of 0\\)";
  const beta = `1 lane by beta \\(a cooldown\\) until ${AT}`;
  await says("several", new RegExp(`^all gated: ${shut}; ${beta}$`));
});

test("a gate is full until something is released", async () => {
  await server.call("PUT /v1/gates/single", { concurrency: 1 });
  await queue(
    "full",
    [1, 2].map((payload) => ({ payload, gates: ["single"] })),
  );
  poll("full");
  await says("full", /^all gated by single \(its concurrency\) until something is released$/);
});

test("as many of its jobs run as may", async () => {
  await queue("capped", [{ payload: 1 }, { payload: 2 }], { capacity: { running: 1 } });
  poll("capped");
  await says("capped", /^limit of 1 running reached, and none has finished lately$/);
});

test("its workers are busy and nothing ends", async () => {
  await queue("busy", [{ payload: 1 }, { payload: 2 }]);
  await server.call("POST /v1/queues/busy/lease", { max: 1, lease: HOUR_MS, worker: "w" });
  await says("busy", /^all workers are busy and none has finished lately$/);
});

test("all that ends has failed", async () => {
  await queue("failing", [{ payload: 1 }, { payload: 2 }], {
    retry: { attempts: 1_000, min: 0, max: 0 },
  });
  poll("failing", async (lease) => {
    await pass(100);
    await server.call("POST /v1/nack", { items: [{ lease, error: "boom" }] });
  });
  await says("failing", /^all jobs fail, [\d.]+ a second$/);
});

test("workers that poll are there between two polls, while jobs finish", async () => {
  const jobs = Array.from({ length: 2_000 }, (_, payload) => ({ payload }));
  await queue("polled", jobs);
  poll("polled", async (lease) => {
    await server.call("POST /v1/ack", { items: [{ lease }] });
    await pass(50);
  });
  await says("polled", /^moving, \d+ running$/);
});
