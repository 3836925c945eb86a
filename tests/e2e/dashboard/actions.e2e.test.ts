// Everything that can be done from the page, each confirmed first, looked at on the server.

import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import { act, Stage, said } from "./stage.ts";

const stage = await Stage.start();
after(() => stage.close());

const call = (line: string, body?: unknown) => stage.server.call(line, body);
const stats = async (queue: string) => (await call(`GET /v1/queues/${queue}`)).body.stats;

beforeEach(async () => {
  await call("DELETE /v1/queues/q");
  await call("DELETE /v1/queues/q.dlq");
  await call("PUT /v1/queues/q", { retry: { attempts: 1, min: 0 } });
});

test("a test job is added with what the form says", () =>
  stage.look("#/queues/q/jobs", async (page) => {
    const fields = { Payload: '{"from":"the page"}', Lane: "acme", Tier: "1", Gates: "smtp, x" };
    await act(page, "Add a test job", "Add", fields);
    await said(page, /Job \w+ was added to q/);
    const [job] = (await call("GET /v1/queues/q/jobs")).body.items;
    assert.deepEqual(job.payload, { from: "the page" });
    assert.deepEqual([job.fairnessKey, job.tier, job.gates], ["acme", 1, ["smtp", "x"]]);
    await page.getByText('{"from":"the page"}').waitFor();
  }));

test("an invalid form is refused with a message, and stays open", () =>
  stage.look("#/queues/q", async (page) => {
    await act(page, "Add a test job", "Add", { Payload: "{no json" });
    await page.getByRole("dialog").getByText("the payload is not JSON").waitFor();
    assert.equal((await stats("q")).added, 0);
  }));

test("nothing is done before it is confirmed", async () => {
  await call("POST /v1/queues/q/jobs", { payload: 1 });
  await stage.look("#/queues/q", async (page) => {
    for (const button of ["Pause", "Purge"]) {
      await page.getByRole("button", { name: button, exact: true }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
      await page.getByRole("dialog").waitFor({ state: "detached" });
    }
    await page.getByRole("button", { name: "Purge", exact: true }).click();
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    assert.deepEqual([(await stats("q")).paused, (await stats("q")).waiting], [false, 1]);
  });
});

test("a queue is paused and resumed", () =>
  stage.look("#/queues/q", async (page) => {
    await act(page, "Pause", "Pause");
    await said(page, /q is paused/);
    assert.equal((await stats("q")).paused, true);
    await page.locator("p.standing").getByText("paused").waitFor();
    await act(page, "Resume", "Resume");
    await said(page, /q runs again/);
    assert.equal((await stats("q")).paused, false);
  }));

test("a slow action can be stopped, and the page says that it may have been done", () =>
  stage.look("#/queues/q", async (page) => {
    await page.route("**/pause", () => undefined);
    await act(page, "Pause", "Pause");
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("progressbar").waitFor();
    await dialog.getByRole("button", { name: "Stop" }).click();
    await dialog.waitFor({ state: "detached" });
    await said(page, /Stopped\. It may have been done/);
  }));

test("a queue is purged", async () => {
  const jobs = Array.from({ length: 5_000 }, (_, i) => ({ payload: i }));
  await call("POST /v1/queues/q/jobs", { jobs });
  await stage.look("#/queues/q", async (page) => {
    await page.locator(".fact").filter({ hasText: "Waiting" }).getByText(/5.000/).waitFor();
    await act(page, "Purge", "Purge");
    await said(page, /Removed from q: about 5.000 jobs/);
    assert.equal((await stats("q")).waiting, 0);
  });
});

test("dead jobs are put back, with a bar that says how far it is", async () => {
  const jobs = Array.from({ length: 1_200 }, (_, i) => ({ payload: i }));
  await call("POST /v1/queues/q/jobs", { jobs });
  for (let left = jobs.length; left > 0; ) {
    const leased = (await call("POST /v1/queues/q/lease", { max: 1_000 })).body.jobs;
    const items = leased.map(({ lease }: { lease: string }) => ({ lease, error: "boom" }));
    await call("POST /v1/nack", { items });
    left -= items.length;
  }
  await stage.look("#/queues/q", async (page) => {
    await page.route("**/redrive", async (route) => {
      await bar.waitFor();
      await route.continue();
    });
    const bar = page.getByRole("dialog").getByRole("progressbar");
    await act(page, "Redrive", "Redrive");
    await said(page, /Redriven from q\.dlq: 1.200 jobs/);
    assert.deepEqual([(await stats("q")).waiting, (await stats("q.dlq")).waiting], [1_200, 0]);
  });
});

test("chosen jobs are cancelled, and run again", async () => {
  await call("POST /v1/queues/q/jobs", { jobs: [{ payload: "a" }, { payload: "b" }] });
  await stage.look("#/queues/q/jobs", async (page) => {
    await page.getByText('"a"').waitFor();
    await page.getByLabel("select all of this page").check();
    await page.getByText("2 selected").waitFor();
    await act(page, "Cancel", "Cancel them");
    await said(page, /2 jobs were cancelled/);
    assert.equal((await stats("q")).cancelled, 2);
    await page.locator("fieldset").getByText("cancelled").click();
    await page.getByText('"b"').waitFor();
    await page
      .getByLabel(/^select job/)
      .first()
      .check();
    await act(page, "Retry", "Retry");
    await said(page, /1 job was retried/);
    assert.equal((await stats("q")).waiting, 1);
  });
});

test("one job is cancelled and run again from its own page", async () => {
  const { id } = (await call("POST /v1/queues/q/jobs", { payload: 1 })).body;
  await stage.look(`#/jobs/${id}`, async (page) => {
    await act(page, "Cancel", "Cancel it");
    await said(page, /was cancelled/);
    await page.locator(".timeline").getByText("cancelled").waitFor();
    await act(page, "Retry", "Retry");
    await said(page, /runs again/);
    await page.locator(".pill").getByText("waiting", { exact: true }).waitFor();
  });
});

test("the weight of a lane is changed, a path's too", async () => {
  const lanes = ["solo", ["acme", "ann"], "[odd]"];
  const jobs = lanes.map((fairnessKey) => ({ payload: 1, fairnessKey }));
  await call("POST /v1/queues/q/jobs", { jobs });
  await stage.look("#/queues/q", async (page) => {
    for (const [i, name] of ["solo", "acme / ann", "[odd]"].entries()) {
      const header = page.getByRole("rowheader", { name, exact: true });
      await page.getByRole("row").filter({ has: header }).getByRole("button").click();
      await page
        .getByRole("dialog")
        .getByLabel("Weight")
        .fill(String(i + 5));
      await page.getByRole("dialog").getByRole("button", { name: "Change" }).click();
      await said(page, new RegExp(`is ${i + 5}\\.`));
    }
  });
  const { items } = (await call("GET /v1/queues/q/lanes?sort=weight")).body;
  assert.deepEqual(
    items.map(({ weight }: { weight: number }) => weight),
    [7, 6, 5],
  );
});

test("the settings of a queue are changed in place, and refused at the field", async () => {
  await call("POST /v1/queues/q/jobs", { payload: 1 });
  await stage.look("#/queues/q/settings", async (page) => {
    const save = page.getByRole("button", { name: "Save settings" });
    const field = (label: string) =>
      page.locator(".field").filter({ has: page.getByLabel(label, { exact: true }) });
    assert.ok(await save.isDisabled(), "nothing has changed yet");
    await page.getByLabel("Lease", { exact: true }).first().fill("soon");
    await page.getByLabel("Paused").check();
    await page.getByLabel("On full").selectOption("wait");
    await save.click();
    await field("Lease")
      .first()
      .getByText(/must be milliseconds or a string/)
      .waitFor();
    assert.equal((await stats("q")).paused, false, "nothing is saved while a value is wrong");
    await page.getByLabel("Lease", { exact: true }).first().fill("45s");
    await page.getByLabel("DLQ").fill("q");
    await save.click();
    await field("DLQ")
      .getByText(/must be the name of another queue/)
      .waitFor();
    await page.getByLabel("DLQ").fill("q.dlq");
    await save.click();
    await said(page, /settings of q are saved/);
    const { config, stats: counts } = (await call("GET /v1/queues/q")).body;
    assert.deepEqual([config.lease, config.onFull, config.paused], [45_000, "wait", true]);
    assert.deepEqual([config.retry.attempts, counts.waiting], [1, 1], "the rest stays");
  });
});

test("a gate is set, changed, cooled down and opened again", () =>
  stage.look("#/gates", async (page) => {
    await page.getByRole("button", { name: "Set a gate" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Gate,").fill("smtp");
    await dialog.getByLabel("Rate").fill("fast");
    await dialog.getByRole("button", { name: "Add a window" }).click();
    await dialog.getByLabel("Limit").fill("100");
    await dialog.getByLabel("Per").fill("1m");
    await dialog.getByRole("button", { name: "Set", exact: true }).click();
    const rate = dialog.locator(".field").filter({ has: page.getByLabel("Rate") });
    await rate.getByText(/must be 0 or a number .*got "fast"/).waitFor();
    await dialog.getByLabel("Rate").fill("5");
    await dialog.getByRole("button", { name: "Set", exact: true }).click();
    await said(page, /limits of smtp are 5.0\/s/);
    const card = page.locator("article").filter({ hasText: "smtp" });
    await card.getByRole("button", { name: "Limits" }).click();
    assert.equal(await dialog.getByLabel("Per").inputValue(), "1m");
    await dialog.getByLabel("Concurrency").fill("3");
    await dialog.getByRole("button", { name: "Set", exact: true }).click();
    await card.getByText(/3 at once/).waitFor();
    const { config } = (await call("GET /v1/gates/smtp")).body;
    const windows = [{ limit: 100, per: 60_000 }];
    assert.deepEqual([config.rate, config.concurrency, config.windows], [5, 3, windows]);
    await card.getByRole("button", { name: "Cool down" }).click();
    await page.getByLabel("Reason").fill("a storm");
    await page.getByRole("dialog").getByRole("button", { name: "Cool down" }).click();
    await card.getByText(/cooling down for .*: a storm/).waitFor();
    await card.getByRole("button", { name: "End cooldown" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "End it" }).click();
    await card.getByText("open", { exact: true }).waitFor();
    assert.equal((await call("GET /v1/gates/smtp")).body.cooldown, undefined);
  }));
