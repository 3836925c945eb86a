// A bad day: jobs that failed are found, grouped by their errors, retried, moved and deleted.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { act, Stage, said } from "./stage.ts";

const stage = await Stage.start();
after(() => stage.close());
const call = (line: string, body?: unknown) => stage.server.call(line, body);
const stats = async (queue: string) => (await call(`GET /v1/queues/${queue}`)).body.stats;

const ORDERS = 30;

before(async () => {
  for (const queue of ["orders", "mail"]) {
    await call(`PUT /v1/queues/${queue}`, { retry: { attempts: 1, min: 0 } });
  }
  const jobs = Array.from({ length: ORDERS }, (_, order) => ({
    payload: { order, note: order === 7 ? "a needle" : "hay" },
    fairnessKey: order % 2 === 0 ? "even" : "odd",
  }));
  await call("POST /v1/queues/orders/jobs", { jobs });
  const { jobs: leased } = (await call("POST /v1/queues/orders/lease", { max: ORDERS })).body;
  const items = leased.map(({ lease }: { lease: string }, i: number) => ({
    lease,
    error: i < 20 ? `timeout after ${i * 100} ms` : `card ${i} was declined`,
    stack: `Error: at pay (pay.ts:${i})`,
  }));
  await call("POST /v1/nack", { items });
  await call("POST /v1/queues/mail/jobs", { payload: { to: "ann" } });
});

test("jobs of all queues are found by state, lane, error and text, by address", () =>
  stage.look("#/jobs", async (page) => {
    const rows = page.locator("tbody tr");
    await page.getByText('{"to":"ann"}').waitFor();
    await page.locator(".states").getByText("dead", { exact: true }).click();
    await page.getByText('{"to":"ann"}').waitFor({ state: "detached" });
    assert.equal(await rows.count(), ORDERS);
    await page.getByLabel("Lane").fill("odd");
    await page.getByLabel("Error").fill("TIMEOUT");
    await page.getByRole("button", { name: "Find", exact: true }).click();
    await page.waitForFunction(() => document.querySelectorAll("tbody tr").length === 10);
    assert.match(page.url(), /state=dead.*lane=odd.*error=TIMEOUT/);
    await page.getByRole("link", { name: "Clear" }).click();
    // Another address is another form: what is typed before it is there is typed into the old one.
    await page.waitForFunction(
      () => !document.querySelector<HTMLInputElement>("[name=lane]")?.value,
    );
    await page.getByLabel("Payload").fill("needle");
    await page.getByRole("button", { name: "Find", exact: true }).click();
    await page.getByText(/jobs scanned; that is all/).waitFor();
    assert.equal(await rows.count(), 1);
    await rows.getByText("a needle").waitFor();
  }));

test("the search of the header finds text, and a job by its id", async () => {
  const { items } = (await call("GET /v1/jobs?limit=1")).body;
  await stage.look("", async (page) => {
    const find = page.getByRole("searchbox", { name: "Find a job by id or text" });
    await find.fill("a needle");
    await page.keyboard.press("Enter");
    await page.locator("tbody tr").getByText("a needle").waitFor();
    await find.fill(items[0].id);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: `Job ${items[0].id}` }).waitFor();
  });
});

test("failures are grouped with their example, and a group is retried after a count", () =>
  stage.look("#/failures", async (page) => {
    const timeouts = page.locator("article").filter({ hasText: "timeout after # ms" });
    await timeouts.getByText("20 dead or failed").waitFor();
    const declined = page.locator("article").filter({ hasText: "card # was declined" });
    await declined.getByText("10 dead or failed").waitFor();
    await timeouts.getByText(/^Last: job/).click();
    await timeouts.getByText(/at pay \(pay\.ts:\d+\)/).waitFor();
    await declined.getByRole("button", { name: "Retry" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText(/^10 jobs match now/).waitFor();
    await dialog.getByRole("button", { name: "Retry" }).click();
    await said(page, /10 jobs were retried/);
    await declined.getByText("10 to be retried").waitFor();
    assert.equal((await stats("orders")).waiting, 10);
    await timeouts.getByRole("link", { name: "Show the jobs" }).click();
    await page.getByText("of one group of failures").waitFor();
    await page.waitForFunction(() => document.querySelectorAll("tbody tr").length === 20);
  }));

test("selected jobs are moved, all that match are deleted", () =>
  stage.look("#/jobs?state=dead&queue=orders.dlq", async (page) => {
    const rows = page.locator("tbody tr");
    await rows.first().waitFor();
    await page
      .getByLabel(/^select job/)
      .nth(0)
      .check();
    await page
      .getByLabel(/^select job/)
      .nth(1)
      .check();
    await page.getByText("2 selected:").waitFor();
    await act(page, "Move", "Move", { "To queue": "mail" });
    await said(page, /2 jobs were moved/);
    assert.equal((await stats("mail")).waiting, 3);
    await page.getByText("all that match:").waitFor();
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText(/^18 jobs match now/).waitFor();
    await dialog.getByRole("button", { name: "Delete" }).click();
    await said(page, /18 jobs were deleted/);
    await page.getByRole("heading", { name: "No job matches" }).waitFor();
  }));

test("nothing is done with all jobs there are by mistake", () =>
  stage.look("#/jobs", async (page) => {
    await page.locator("tbody tr").first().waitFor();
    const remove = page.getByRole("button", { name: "Delete", exact: true });
    assert.equal(await remove.getAttribute("aria-disabled"), "true");
    // A person may press it, whatever it looks like.
    await remove.click({ force: true });
    await said(page, /^Filter the jobs first, or select some\.$/);
    assert.equal(await page.getByRole("dialog").count(), 0);
  }));

test("a dead job is retried with another payload", async () => {
  const { id } = (await call("POST /v1/queues/orders/jobs", { payload: { order: "bad" } })).body;
  for (let left = 12; left > 0; left--) {
    const { jobs } = (await call("POST /v1/queues/orders/lease", { max: 1 })).body;
    if (jobs.length === 0) break;
    await call("POST /v1/nack", { items: [{ lease: jobs[0].lease, error: "no number" }] });
  }
  await stage.look(`#/jobs/${id}`, async (page) => {
    await page.locator(".pill").getByText("dead", { exact: true }).waitFor();
    await act(page, "Edit and retry", "Retry", { Payload: '{"order":99}' });
    await said(page, /runs again with the new payload/);
    await page.getByText('"order": 99').waitFor();
    const job = (await call(`GET /v1/jobs/${id}`)).body;
    assert.deepEqual([job.queue, job.state, job.payload], ["orders", "waiting", { order: 99 }]);
  });
});
