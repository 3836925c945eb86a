// Each view, over a server that runs the demo beside queues that do not move.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { findings } from "./axe.ts";
import { fillServer } from "./scene.ts";
import { Stage } from "./stage.ts";

const stage = await Stage.start("--demo");
const scene = await fillServer(stage.server);
after(() => stage.close());

test("the overview says in words which queues do not move, and why", () =>
  stage.look("", async (page) => {
    const row = (name: string) =>
      page.getByRole("row").filter({ has: page.locator(`a >> text="${name}"`) });
    await row("reports").getByText("no workers").waitFor();
    await row("invoices").getByText("paused").waitFor();
    const gated = row("search").getByText(
      /all gated by indexer:alpha \(a cooldown\) until \d\d:\d\d/,
    );
    await gated.waitFor();
    assert.match((await gated.textContent()) ?? "", /: 429 from the indexer$/);
    await row("orders.dlq").getByText("holds dead letters").waitFor();
    await row("mail")
      .getByText(/moving/)
      .waitFor();
    const first = await page.locator("tbody th a").first().textContent();
    assert.equal(first, "reports", "what needs attention comes first");
    await row("mail")
      .getByRole("img", { name: "rate out of mail" })
      .locator("path:not(.base)[d^=M]")
      .waitFor();
  }));

test("the overview moves by itself, and is searched and sorted by the server", () =>
  stage.look("", async (page) => {
    const mail = page.getByRole("row").filter({ has: page.locator('a >> text="mail"') });
    const out = mail.locator("td").nth(2).locator("b");
    await page.waitForFunction((cell) => Number(cell?.textContent) > 0, await out.elementHandle());
    await page.getByLabel("Search queues").fill("ord");
    await page.getByText("2 queues").waitFor();
    await page.getByLabel("Search queues").fill("");
    await page.getByLabel("Sort by", { exact: true }).selectOption("name");
    await page.waitForFunction(
      () => document.querySelector("tbody th a")?.textContent === "albums",
    );
  }));

test("times are in the viewer's time zone", async () => {
  const gate = (await stage.server.call("GET /v1/gates/indexer:alpha")).body;
  for (const zone of ["Asia/Tokyo", "America/New_York"]) {
    const until = new Intl.DateTimeFormat("en", {
      hour: "2-digit",
      minute: "2-digit",
      hourCycle: "h23",
      timeZone: zone,
    }).format(gate.cooldown.until);
    await stage.look(
      "",
      (page) => page.getByText(`all gated by indexer:alpha (a cooldown) until ${until}`).waitFor(),
      {
        zone,
      },
    );
  }
});

test("a queue has charts, and lanes with what they got and are owed", () =>
  stage.look("#/queues/mail", async (page) => {
    for (const title of ["Throughput", "Time from due to dispatch", "Waiting jobs"]) {
      await page.getByRole("img", { name: new RegExp(`^${title}.*now`) }).waitFor();
    }
    await page.locator(".plot canvas").first().waitFor();
    assert.equal(await page.locator("section[aria-label=tiers]").count(), 0, "one tier is used");
    const noisy = page.getByRole("row").filter({ hasText: "noisy" });
    await noisy.getByRole("img", { name: /^received \d+%, owed \d+%/ }).waitFor();
    await page.getByLabel("Search lanes").fill("quiet");
    await noisy.waitFor({ state: "detached" });
    await page.getByRole("row").filter({ hasText: "quiet" }).waitFor();
  }));

test("workers are shown with what they hold, and since when", async () => {
  await stage.server.call("PUT /v1/queues/held", {});
  const jobs = Array.from({ length: 22 }, (_, i) => ({ payload: i }));
  await stage.server.call("POST /v1/queues/held/jobs", { jobs });
  const lease = { worker: "packer-9", lease: 600_000 };
  const leased = async (max: number): Promise<string> =>
    (await stage.server.call("POST /v1/queues/held/lease", { ...lease, max })).body.jobs[0].id;
  const first = await leased(1);
  await stage.look("#/queues/held/workers", async (page) => {
    const row = page.getByRole("row").filter({ hasText: "packer-9" });
    await row.getByRole("link", { name: first, exact: true }).waitFor();
    await row.getByText(/^(under 1|\d+)\s?s$/).waitFor();
    assert.equal(await page.getByRole("button", { name: "All jobs of packer-9" }).count(), 0);
  });
  await leased(21);
  await stage.look("#/workers", async (page) => {
    const row = page.getByRole("row").filter({ hasText: "packer-9" });
    await row.getByRole("cell", { name: "22", exact: true }).waitFor();
    await row.getByRole("link", { name: first, exact: true }).waitFor();
    const all = page.getByRole("button", { name: "All jobs of packer-9" });
    await all.click();
    const held = page.getByRole("region", { name: "jobs of packer-9" });
    await held.getByRole("row").nth(20).waitFor();
    await held.getByRole("link", { name: first, exact: true }).waitFor();
    assert.deepEqual(await findings(page), []);
    await page.getByRole("link", { name: "All that run in held" }).waitFor();
    await page.getByRole("button", { name: "Hide jobs of packer-9" }).click();
    await held.waitFor({ state: "detached" });
  });
});

test("jobs are listed by state, found by what is in them, with payload and last error", () =>
  stage.look("#/queues/orders.dlq/jobs", async (page) => {
    const row = page.getByRole("row").filter({ hasText: scene.failedId });
    await row.getByText('{"order":17}').waitFor();
    await row.getByText("it answered 503 again").waitFor();
    await row.getByText("2 / 2").waitFor();
    await page.getByLabel(/^Search ids/).fill("nothing like it");
    await page.getByText("There is no such job.").waitFor();
    await page.getByLabel(/^Search ids/).fill('"order":17');
    await row.waitFor();
    await page.getByText("finished", { exact: true }).click();
    await row.waitFor({ state: "detached" });
  }));

test("a job shows its whole life and why it does not run", async () => {
  await stage.look(`#/jobs/${scene.failedId}`, async (page) => {
    const life = page.locator(".timeline li");
    await life.filter({ hasText: "added" }).waitFor();
    await life
      .filter({ hasText: "failed" })
      .getByText("the payment service answered 503")
      .waitFor();
    await life.filter({ hasText: "dead" }).first().waitFor();
    const events = await life.locator("b").allTextContents();
    const told = events.filter((event) => event !== "waited");
    const all = ["added", "dispatched", "failed", "dispatched", "dead"];
    assert.deepEqual(told, all, "every attempt, in order");
    const dead = /^It is a dead letter: it failed 2 of 2 times in queue orders\./;
    await page.getByText(dead).first().waitFor();
    await page.getByText('"tenant": "acme"').waitFor();
  });
  const { items } = (await stage.server.call("GET /v1/queues/search/jobs")).body;
  await stage.look(`#/jobs/${items[0].id}`, async (page) => {
    const words = /^Gate indexer:alpha is cooled down for another .* \(.*\d\d:\d\d.*\)$/;
    await page.locator("p.why").getByText(words).waitFor();
    const life = page.locator(".timeline li.now");
    await life.getByText("gated by indexer:alpha").waitFor();
    await life.getByText(/^Gate indexer:alpha is cooled down for another/).waitFor();
  });
});

test("gates show level, limits, windows, cooldown with reason and countdown, and who waits", () =>
  stage.look("#/gates", async (page) => {
    const alpha = page.locator("article").filter({ hasText: "indexer:alpha" });
    await alpha.getByText(/2\.0\/s, burst 2 · 100 per 1.min/).waitFor();
    const cooling = alpha.getByText(/cooling down for \d+:\d\d.*: 429 from the indexer/);
    await cooling.waitFor();
    const shown = await cooling.textContent();
    await page.waitForFunction(([element, text]) => (element as Element)?.textContent !== text, [
      await cooling.elementHandle(),
      shown,
    ] as const);
    await alpha.getByText("0 of 100 used").waitFor();
    await alpha.getByText(/^3 lanes wait:/).waitFor();
    await alpha.getByRole("link", { name: "search" }).waitFor();
    await page.locator("article").filter({ hasText: "provider:slow" }).getByText(/of 5/).waitFor();
    await page.getByLabel("Search gates").fill("fast");
    await alpha.waitFor({ state: "detached" });
  }));

test("of a payload that is long, text or not, the page asks for the beginning alone", async () => {
  const call = stage.server.call.bind(stage.server);
  await call("PUT /v1/queues/large", {});
  const text = { payload: "long ".repeat(100_000) };
  const binary = { payloadBase64: Buffer.alloc(500_000, 200).toString("base64") };
  for (const [body, start] of [
    [text, /^"long long/],
    [binary, /^yMjIyMjI/],
  ] as const) {
    const { id } = (await call("POST /v1/queues/large/jobs", body)).body;
    await stage.look("", async (page) => {
      const sizes: number[] = [];
      page.on("response", async (response) => {
        if (response.url().includes(`/v1/jobs/${id}?`)) sizes.push((await response.body()).length);
      });
      await page.goto(`${stage.server.address}/#/jobs/${id}`);
      await page.getByRole("heading", { name: /^Payload, 488.kB, its beginning/ }).waitFor();
      await page.locator("pre").getByText(start).waitFor();
      const whole = page.getByRole("link", { name: "all of the job, as JSON" });
      assert.equal(await whole.getAttribute("href"), `v1/jobs/${id}`);
      assert.ok(sizes.length > 0 && Math.max(...sizes) < 60_000, `${sizes}`);
    });
  }
});

test("the page says what does not exist, and nothing breaks", async () => {
  await stage.look("#/queues/nowhere", (page) =>
    page.getByText('there is no queue "nowhere"').first().waitFor(),
  );
  await stage.look("#/jobs/zzz", (page) => page.getByRole("alert").waitFor());
  await stage.look("#/what/is/this", (page) => page.getByText("nothing at this address").waitFor());
});
