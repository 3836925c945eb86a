// How pages look: nothing is cut, like things are of one size, buttons are in one line.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Locator } from "playwright-core";
import { PHONE } from "./axe.ts";
import { fillServer } from "./scene.ts";
import { Stage } from "./stage.ts";

const stage = await Stage.start("--demo");
await fillServer(stage.server);
after(() => stage.close());

const heights = (all: Locator): Promise<number[]> =>
  all.evaluateAll((elements) =>
    elements.map((element) => Math.round(element.getBoundingClientRect().height)),
  );

// Texts that do not fit where they are.
const cut = (all: Locator): Promise<string[]> =>
  all.evaluateAll((elements) =>
    elements
      .filter((element) => element.scrollWidth > element.clientWidth)
      .map((element) => element.textContent ?? ""),
  );

test("a queue that does not move says why in full", () =>
  stage.look("#/", async (page) => {
    const reasons = page.locator(".standing.warn");
    await reasons.getByText(/indexer:alpha .* 429 from the indexer$/).waitFor();
    assert.deepEqual(await cut(reasons), []);
  }));

test("the lines beside the figures of a column begin in one place", () =>
  stage.look("#/", async (page) => {
    await page
      .getByRole("row")
      .filter({ hasText: /mail.*2\s0/ })
      .waitFor();
    const lefts = await page
      .locator(".queues td:nth-child(2) .spark")
      .evaluateAll((all) => all.map((one) => Math.round(one.getBoundingClientRect().left)));
    assert.equal(new Set(lefts).size, 1, `${lefts}`);
  }));

for (const [width, name] of [
  [1280, "a laptop"],
  [1920, "a large screen"],
] as const) {
  test(`cards of gates are of one height on ${name}`, () =>
    stage.look(
      "#/gates",
      async (page) => {
        await page.getByText("provider:slow").waitFor();
        await page.getByText("indexer:alpha").waitFor();
        const all = await heights(page.locator(".gate"));
        assert.equal(new Set(all).size, 1, `${all}`);
      },
      { width },
    ));
}

test("buttons of a row are in one line on a phone", async () => {
  for (const [path, button] of [
    ["#/webhooks", "Delete"],
    ["#/config", "Delete"],
    ["#/schedules", "Pause"],
  ] as const) {
    await stage.look(
      path,
      async (page) => {
        const row = page.locator(".cards .actions").first();
        await row.getByRole("button", { name: button }).waitFor();
        const tops = await row
          .getByRole("button")
          .evaluateAll((all) => all.map((one) => Math.round(one.getBoundingClientRect().top)));
        assert.equal(new Set(tops).size, 1, `${path}: ${tops}`);
      },
      PHONE,
    );
  }
});

test("an event is read in full on a phone, in three lines at most", () =>
  stage.look(
    "#/events",
    async (page) => {
      const leased = page
        .getByRole("row")
        .filter({ hasText: /^.*leased.*worker/s })
        .first();
      await leased.waitFor();
      await page.getByRole("button", { name: "Pause" }).click();
      assert.deepEqual(await cut(page.locator(".events .detail")), []);
      const most = Math.max(...(await heights(page.locator(".events tbody tr"))));
      assert.ok(most <= 110, `${most} px`);
    },
    PHONE,
  ));

test("a chart of one moment says that its line is to come", async () => {
  await stage.server.call("PUT /v1/queues/new", {});
  await stage.look("#/queues/new", async (page) => {
    const history = "**/v1/queues/new/history**";
    await page.route(history, (route) => route.fulfill({ json: { times: [1], series: {} } }));
    await page.reload();
    await page.getByText("A line begins with the second point.").first().waitFor();
    await page.unroute(history);
  });
});

test("a gate leads to the jobs that wait for it", () =>
  stage.look("#/gates", async (page) => {
    const gate = page.locator(".gate").filter({ hasText: "indexer:alpha" });
    await gate.getByRole("link", { name: "Show the jobs" }).click();
    await page.getByRole("row").filter({ hasText: '{"q":"a"}' }).waitFor();
  }));

test("a button that does nothing now says why", () =>
  stage.look("#/gates", async (page) => {
    const gate = page.locator(".gate").filter({ hasText: "provider:slow" });
    const end = gate.getByRole("button", { name: "End cooldown" });
    assert.equal(await end.getAttribute("aria-disabled"), "true");
    assert.equal(await end.getAttribute("title"), "provider:slow is not cooling down.");
    await end.click({ force: true });
    await page.locator(".said").getByText("provider:slow is not cooling down.").waitFor();
    assert.equal(await page.getByRole("dialog").count(), 0);
  }));

test("a group of failures that are tried again says so instead of offering a retry", () =>
  stage.look("#/failures", async (page) => {
    const group = page.locator(".failure").filter({ hasText: "0 dead or failed" }).first();
    await group.getByText("None has ended: they are tried again by themselves.").waitFor();
  }));
