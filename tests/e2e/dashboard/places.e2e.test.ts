// Schedules, flows, steps, workers, events and the configuration: each page and what it does.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { findings } from "./axe.ts";
import { fillServer } from "./scene.ts";
import { act, Stage, said } from "./stage.ts";

const stage = await Stage.start();
const scene = await fillServer(stage.server);
after(() => stage.close());
const call = (line: string, body?: unknown) => stage.server.call(line, body);

test("a queue is created with options, and deleted when its name is typed", () =>
  stage.look("#/", async (page) => {
    await page.getByRole("button", { name: "Create a queue" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name", { exact: true }).fill("fresh");
    await dialog.getByText("Options", { exact: true }).click();
    await dialog.getByLabel("Lease", { exact: true }).first().fill("45s");
    const fairness = dialog.getByLabel("Fairness", { exact: true });
    assert.ok(await fairness.isChecked(), "as it is when nothing is said");
    await fairness.uncheck();
    await dialog.getByRole("button", { name: "Add a tier" }).click();
    await dialog.getByRole("button", { name: "Remove tier 1" }).click();
    await dialog.getByRole("button", { name: "Create" }).click();
    await said(page, /Queue fresh was created/);
    await page.getByRole("heading", { name: "fresh" }).waitFor();
    const { lease, fairness: isFair } = (await call("GET /v1/queues/fresh")).body.config;
    assert.deepEqual([lease, isFair], [45_000, false]);
    await act(page, "Delete", "Delete", { "Type fresh": "wrong" });
    await dialog.getByText("type fresh to delete it").waitFor();
    await dialog.getByLabel("Type fresh").fill("fresh");
    await dialog.getByRole("button", { name: "Delete" }).click();
    await said(page, /Queue fresh was deleted/);
    assert.equal((await call("GET /v1/queues/fresh")).status, 404);
  }));

test("a schedule is created, run, paused, resumed, changed and deleted", () =>
  stage.look("#/schedules", async (page) => {
    await page.getByRole("heading", { name: "There is no schedule yet" }).waitFor();
    const dialog = page.getByRole("dialog");
    await act(page, "Create a schedule", "Create", { Name: "nightly-sweep", Queue: "nightly" });
    await dialog
      .getByText(/one of cron, every and at/)
      .last()
      .waitFor();
    await dialog.getByLabel("Cron").fill("0 3 * * *");
    await dialog.getByLabel("Timezone").fill("Europe/Berlin");
    await dialog.getByLabel("Payload of each job").fill('{"sweep":2}');
    await dialog.getByRole("button", { name: "Create" }).click();
    await said(page, /nightly-sweep was created/);
    const row = page.getByRole("row").filter({ hasText: "nightly-sweep" });
    await row.getByText("0 3 * * * (Europe/Berlin)").waitFor();
    await row.getByText(/^in \d+/).waitFor();
    await row.getByRole("button", { name: "Run now" }).click();
    await dialog.getByRole("button", { name: "Run now" }).click();
    await said(page, /Job \w+ of nightly-sweep was added to nightly/);
    await row.getByRole("button", { name: "Pause" }).click();
    await dialog.getByRole("button", { name: "Pause" }).click();
    await row.getByText("paused", { exact: true }).waitFor();
    const address = "GET /v1/queues/nightly/schedules/nightly-sweep";
    assert.equal((await call(address)).body.paused, true);
    await page.getByRole("link", { name: "nightly-sweep" }).click();
    await page.getByRole("heading", { name: "Next runs" }).waitFor();
    assert.ok((await page.locator(".timeline li").count()) > 1);
    await act(page, "Resume", "Resume");
    await page.locator(".pill").getByText("active").waitFor();
    await act(page, "Change", "Save", { Cron: "0 4 * * *" });
    await page.getByText("0 4 * * * (Europe/Berlin)").waitFor();
    assert.deepEqual((await call(address)).body.config.payload, { sweep: 2 });
    await act(page, "Delete", "Delete");
    await said(page, /nightly-sweep was deleted/);
    assert.equal((await call(address)).status, 404);
  }));

test("ticks of the past are added by a backfill", async () => {
  await call("PUT /v1/queues/nightly/schedules/daily", { cron: "0 3 * * *" });
  await stage.look("#/schedules/nightly/daily", async (page) => {
    await act(page, "Backfill", "Backfill", { From: "2026-03-01", To: "2026-03-04" });
    await said(page, /3 jobs were added to nightly/);
  });
  await call("DELETE /v1/queues/nightly/schedules/daily");
});

test("a flow is drawn as a graph, and leads from job to job", () =>
  stage.look(`#/jobs/${scene.flowId}`, async (page) => {
    await page.getByText("Waits for", { exact: true }).waitFor();
    await page.getByText("Needed by", { exact: true }).waitFor();
    await page.getByRole("link", { name: "Show the flow as a graph" }).click();
    await page.locator(".flow .box").nth(4).waitFor();
    assert.deepEqual(
      [await page.locator(".flow .box").count(), await page.locator(".flow .wire").count()],
      [5, 6],
    );
    await page.getByText("4 blocked").waitFor();
    const lefts = await page
      .locator(".flow .box rect:first-of-type")
      .evaluateAll((rects) => rects.map((rect) => rect.getBoundingClientRect().left));
    assert.equal(new Set(lefts).size, 3, "in three layers");
    await page.locator(".flow .box").first().click();
    await page.getByRole("heading", { name: /^Job / }).waitFor();
  }));

test("a job shows its steps, and gets the signal that it waits for", () =>
  stage.look(`#/jobs/${scene.stepsId}`, async (page) => {
    const steps = page
      .locator("section")
      .filter({ has: page.getByRole("heading", { name: "Steps" }) });
    await steps.getByText('{"words":420}').waitFor();
    await steps.getByText("waits for its signal").waitFor();
    await act(page, 'Send signal "approved"', "Send", { Value: '{"by":"ann"}' });
    await said(page, /Signal approved was sent/);
    await steps.getByText('{"by":"ann"}').waitFor();
  }));

test("a job is duplicated with another payload, and its texts are copied", async () => {
  await stage.look(`#/jobs/${scene.failedId}`, async (page) => {
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.getByRole("button", { name: /^Copy Payload/ }).click();
    await said(page, /Payload.* was copied/);
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    assert.deepEqual(JSON.parse(copied), { order: 17 });
    await page.getByRole("row").filter({ hasText: "it answered 503 again" }).waitFor();
    await act(page, "Duplicate", "Add", { Payload: '{"order":18}' });
    await said(page, /Job \w+ was added to orders/);
    await page.getByText('"order": 18').waitFor();
    const id = page.url().split("/").at(-1);
    const job = (await call(`GET /v1/jobs/${id}`)).body;
    assert.deepEqual([job.queue, job.fairnessKey, job.headers.tenant], ["orders", "acme", "acme"]);
    await page.getByRole("searchbox", { name: "Find a job by id or text" }).fill(scene.failedId);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: `Job ${scene.failedId}` }).waitFor();
  });
});

test("progress that says how much is done is a bar", async () => {
  await call("PUT /v1/queues/slow", {});
  const { id } = (await call("POST /v1/queues/slow/jobs", { payload: 1 })).body;
  const { jobs } = (await call("POST /v1/queues/slow/lease", { max: 1 })).body;
  const progress = { done: 3, total: 4 };
  await call("POST /v1/progress", { items: [{ lease: jobs[0].lease, progress }] });
  await stage.look(`#/jobs/${id}`, async (page) => {
    const bar = page.getByRole("progressbar", { name: "progress of the job" });
    await bar.waitFor();
    assert.equal(await bar.getAttribute("value"), "0.75");
    await page.getByText("75%").waitFor();
  });
});

test("a group shows its members and how they ended", () =>
  stage.look("#/groups/albums/spring", async (page) => {
    await page.getByText("not ended").first().waitFor();
    await page.locator(".fact").filter({ hasText: "Members" }).getByText("1").waitFor();
  }));

test("a job shows the lines of its log as they are written, and who worked on it", async () => {
  await call("PUT /v1/queues/thumbs", {});
  const { id } = (await call("POST /v1/queues/thumbs/jobs", { payload: 1 })).body;
  const lease = { max: 1, worker: "resizer-7", lease: 600_000 };
  const { jobs } = (await call("POST /v1/queues/thumbs/lease", lease)).body;
  const log = (line: string) =>
    call("POST /v1/log", { items: [{ lease: jobs[0].lease, lines: [line] }] });
  await stage.look(`#/jobs/${id}`, async (page) => {
    const attempt = page.getByRole("region", { name: "attempts" }).getByRole("row").nth(1);
    await attempt.getByText("resizer-7").waitFor();
    assert.equal(await page.getByRole("heading", { name: /^Log, / }).count(), 0);
    await log("begins with 12 photos");
    await page.getByRole("heading", { name: "Log, 1 line", exact: true }).waitFor();
    await log("photo 3 \u202eis no image");
    await page.getByRole("heading", { name: "Log, 2 lines" }).waitFor();
    const progress = { done: 3, total: 12 };
    await call("POST /v1/progress", { items: [{ lease: jobs[0].lease, progress }] });
    await page.getByText("25%", { exact: true }).waitFor();
    const shown = page.locator("pre").filter({ hasText: "begins with 12 photos" });
    assert.match(
      await shown.innerText(),
      /^\d\d:\d\d:\d\d\.\d{3} +begins with 12 photos\n.*photo 3 \\u202eis no image$/,
    );
    assert.deepEqual(await findings(page), []);
  });
});

test("workers of all queues are found by their names and queues", () =>
  stage.look("#/workers", async (page) => {
    await page.getByText("searcher-1").waitFor();
    await page.getByLabel("Search workers and queues").fill("nothing like it");
    await page.getByText("No worker has this name.").waitFor();
    await page.getByLabel("Search workers and queues").fill("search");
    await page.getByText("searcher-1").waitFor();
  }));

test("events are shown as they happen, by queue and kind, and can be paused", () =>
  stage.look("#/events", async (page) => {
    await page.getByText("Nothing has happened yet").waitFor();
    const opened = page.waitForResponse((response) => response.url().includes("queue=slow"));
    await page.getByLabel("Show").selectOption("added");
    await page.getByLabel("Only of queue").fill("slow");
    await opened;
    await call("POST /v1/queues/reports/jobs", { payload: 1 });
    const { id } = (await call("POST /v1/queues/slow/jobs", { payload: 1 })).body;
    await page.getByRole("link", { name: id, exact: true }).waitFor();
    assert.equal(await page.locator("tbody tr").count(), 1);
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByRole("button", { name: "Continue" }).waitFor();
  }));

test("a value of the configuration is set, changed and deleted", () =>
  stage.look("#/config", async (page) => {
    await act(page, "Set a value", "Set", { Key: "plan", Value: '{"gold":2}' });
    const row = page.getByRole("row").filter({ hasText: "plan" });
    await row.getByText('{"gold":2}').waitFor();
    await row.getByRole("button", { name: "Change" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Value").fill("7");
    await dialog.getByRole("button", { name: "Set" }).click();
    await row.getByRole("cell", { name: "7", exact: true }).waitFor();
    assert.equal((await call("GET /v1/config/plan")).body.value, 7);
    await row.getByRole("button", { name: "Delete" }).click();
    await dialog.getByRole("button", { name: "Delete" }).click();
    await row.waitFor({ state: "detached" });
  }));

test("a webhook is made, tested and deleted, and the audit log tells all of it", () =>
  stage.look("#/webhooks", async (page) => {
    const dialog = page.getByRole("dialog");
    await act(page, "Create a webhook", "Create", { Address: "http://127.0.0.1/", Name: "chat" });
    await dialog.getByText("127.0.0.1, which is not a public address").waitFor();
    await dialog.getByLabel("Address").fill("http://hook.invalid/");
    await dialog.getByLabel("Queues").fill("orders.*, payments");
    await dialog.getByRole("button", { name: "Create", exact: true }).click();
    await said(page, /Webhook chat was created/);
    await page.getByText("The secret of chat, shown this once").waitFor();
    const { items } = (await call("GET /v1/webhooks")).body;
    const made = items.find(({ name }: { name: string }) => name === "chat");
    assert.deepEqual([made.events, made.queues], [["dead"], ["orders.*", "payments"]]);
    const row = page.getByRole("row").filter({ hasText: "chat" });
    await row.getByRole("button", { name: "Test" }).click();
    await dialog.getByRole("button", { name: "Send" }).click();
    await said(page, /The message is job/);
    await row.getByRole("link", { name: "all" }).click();
    await page.getByText('"type":"test"').waitFor();
    await page.goBack();
    await row.getByRole("button", { name: "Delete" }).click();
    await dialog.getByRole("button", { name: "Delete" }).click();
    await row.waitFor({ state: "detached" });
    await page.getByRole("link", { name: "Audit log" }).click();
    for (const action of ["createWebhook", "testWebhook", "deleteWebhook"]) {
      await page.getByRole("cell", { name: action, exact: true }).first().waitFor();
    }
    await page.getByText(/^refused: INVALID: the webhook/).waitFor();
    await page.getByLabel("Who, what or on what").fill("DELETEwebhook");
    await page.getByRole("cell", { name: "createWebhook" }).first().waitFor({ state: "detached" });
    assert.equal(await page.locator("tbody tr").count(), 1);
  }));

test("a server without anything says how to begin", async () => {
  const empty = await Stage.start();
  try {
    await empty.look("", async (page) => {
      await page.getByRole("heading", { name: "There is no queue yet" }).waitFor();
      await page.getByText("sluice add mail").waitFor();
      await page.goto(`${empty.server.address}/#/gates`);
      await page.getByRole("heading", { name: "There is no gate yet" }).waitFor();
      await page.goto(`${empty.server.address}/#/workers`);
      await page.getByRole("heading", { name: "No worker is connected" }).waitFor();
      await page.goto(`${empty.server.address}/#/webhooks`);
      await page.getByRole("heading", { name: "No webhook yet" }).waitFor();
    });
  } finally {
    await empty.close();
  }
});
