// Apps show their pages in the same frame, on the servers they run themselves.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { jobserverScene, retrackerScene, torznabScene } from "./app-scenes.ts";
import { findings, PHONE, widths } from "./axe.ts";
import { act, confirm, Stage, said } from "./stage.ts";

const torznabScenery = await torznabScene();
const scenes = [await jobserverScene(), torznabScenery, await retrackerScene()] as const;
const [jobserver, torznab, retracker] = await Promise.all(
  scenes.map(({ server }) => Stage.over(server)),
).then((stages) => stages as [Stage, Stage, Stage]);
after(async () => {
  for (const stage of [jobserver, torznab, retracker]) await stage.close();
  for (const scene of scenes) await scene[Symbol.asyncDispose]();
});

const PAGES = [
  ["the job server", jobserver, "Submitters"],
  ["the search service", torznab, "Latest requests"],
  ["the retracker", retracker, "Forwarders"],
] as const;

for (const [name, stage, ready] of PAGES) {
  for (const look of [{ scheme: "light" }, { scheme: "dark" }, PHONE] as const) {
    const how = "scheme" in look ? `in ${look.scheme}` : "on a phone";
    test(`axe finds nothing on the page of ${name} ${how}, and it fits`, () =>
      stage.look(
        "",
        async (page) => {
          await page.getByRole("heading", { name: ready }).waitFor();
          assert.deepEqual(await findings(page), []);
          const [all, seen] = await widths(page);
          assert.ok(all <= seen, `${all} of ${seen}`);
        },
        look,
      ));
  }
}

test("the job server shows its tiers, its submitters and its list, and does what it offers", () =>
  jobserver.look("", async (page) => {
    await page.getByRole("heading", { name: "Job server" }).waitFor();
    const tiers = page.getByRole("region", { name: "Tiers" });
    await tiers.getByRole("row").filter({ hasText: "fast" }).waitFor();
    await jobserver.server.call("POST /job/add", { type: "echo", worker_id: "acme" });
    const submitters = page.getByRole("region", { name: "Submitters" });
    await submitters.getByRole("row").filter({ hasText: "acme" }).waitFor();
    await act(page, "Fetch the priority list now", "Do it");
    await said(page, /There is no endpoint to ask/);
  }));

test("the search service shows its indexers and their timelines, and acts on a row", () =>
  torznab.look("", async (page) => {
    await page.getByRole("heading", { name: "Torznab", exact: true }).waitFor();
    const indexers = page.getByRole("region", { name: "Indexers" });
    const row = (name: string) => indexers.getByRole("row").filter({ hasText: name });
    await row("alpha").getByText("98 of 100").waitFor();
    await row("resting").getByText("paused").waitFor();
    await row("limited")
      .getByText(/HTTP 429.*Retry-After/)
      .first()
      .waitFor();
    await page.getByRole("img", { name: /^limited: .*cooling down for \d+ min/ }).waitFor();
    await page.getByRole("heading", { name: "Budgets per day" }).waitFor();
    await page.getByRole("img", { name: /^alpha: 98 of 100 left/ }).waitFor();
    await row("limited").getByRole("button", { name: "End cooldown" }).click();
    await confirm(page, "End it");
    await said(page, /the cooldown of .*limited is over/);
    await row("limited").getByText("open", { exact: true }).waitFor();
    await row("resting").getByRole("button", { name: "Resume" }).click();
    await confirm(page, "Resume");
    await row("resting").getByRole("button", { name: "Pause" }).waitFor();
    await row("alpha").getByRole("button", { name: "Test" }).click();
    await confirm(page, "Test");
    await said(page, /alpha answers as fake/);
  }));

test("an indexer is added, edited and removed by clicking, and mistakes are named", () =>
  torznab.look("", async (page) => {
    const { body } = await torznab.server.call("GET /indexers");
    const url = String(body.indexers[0].url).replace(/\/[^/]+\/api/, "/added/api");
    await act(page, "Add an indexer", "Add and test", { Address: "nowhere" });
    await page
      .locator("dialog .refusal")
      .getByText(/indexer\.url must be an http/)
      .waitFor();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Address").fill(url);
    await dialog.getByLabel("Name").fill("added");
    await dialog.getByLabel("Request limits").fill("5/hour");
    await dialog.getByRole("button", { name: "Add and test" }).click();
    await said(page, /added is added and answers/);
    const indexers = page.getByRole("region", { name: "Indexers" });
    const row = indexers.getByRole("row").filter({ hasText: "added" });
    await row.getByText("4 of 5").waitFor();
    await row.getByRole("button", { name: "Edit" }).click();
    const limits = dialog.getByLabel("Request limits");
    assert.equal(await limits.inputValue(), "5/hour");
    await limits.fill("7/hour, 50/day");
    await confirm(page, "Save");
    await row.getByText("6 of 7, 49 of 50").waitFor();
    await row.getByRole("button", { name: "Remove" }).click();
    await confirm(page, "Remove");
    await row.waitFor({ state: "detached" });
  }));

test("a search shows results as they arrive; they are sorted, filtered, downloaded", () =>
  torznab.look("", async (page) => {
    const form = page.getByRole("form", { name: "Search" });
    await form.getByLabel("Words").fill("debian");
    await form.getByLabel("Indexer").selectOption({ label: "alpha" });
    await form.getByRole("button", { name: "Search" }).click();
    await said(page, /Results appear as they arrive/);
    await page.getByRole("heading", { name: "Search for debian" }).waitFor();
    const results = page.getByRole("region", { name: "Results" });
    const titles = results.locator("tbody th");
    await titles.first().waitFor();
    assert.equal(await titles.count(), 3);
    const sort = async (column: string, direction: string) => {
      await results.getByRole("button", { name: column }).click();
      await results.locator(`th[aria-sort="${direction}"]`).waitFor();
      return titles.allTextContents();
    };
    const up = await sort("Size", "ascending");
    assert.match(up[0]!, /netinst/);
    assert.deepEqual(await sort("Size", "descending"), [...up].reverse());
    await page.getByLabel("Filter results").fill("dvd");
    await page.getByText("1 of 3", { exact: true }).waitFor();
    assert.equal(await titles.count(), 1);
    const downloading = page.waitForEvent("download");
    await results.getByRole("link", { name: "Download" }).click();
    assert.match((await downloading).suggestedFilename(), /alpha\.torrent$/);
    assert.deepEqual(await findings(page), []);
    // The search has an address of its own.
    await page.reload();
    await page.getByRole("heading", { name: "Search for debian" }).waitFor();
    await titles.first().waitFor();
  }));

test("a result of another indexer joins while one still answers", () =>
  torznab.look("", async (page) => {
    const form = page.getByRole("form", { name: "Search" });
    await form.getByLabel("Words").fill("slowly");
    await form.getByRole("button", { name: "Search" }).click();
    const results = page.getByRole("region", { name: "Results" });
    const titles = results.locator("tbody th");
    await titles.filter({ hasText: "alpha slowly" }).first().waitFor();
    assert.equal(await titles.filter({ hasText: "slow slowly" }).count(), 0);
    torznabScenery.release();
    await titles.filter({ hasText: "slow slowly" }).first().waitFor();
  }));

test("the retracker shows its forwarders and a chart, and switches one off when told twice", () =>
  retracker.look("", async (page) => {
    await page.getByRole("heading", { name: "Retracker", exact: true }).waitFor();
    const rows = page.getByRole("region", { name: "Forwarders" }).getByRole("row");
    await rows.filter({ hasText: "one" }).getByText("active", { exact: true }).waitFor();
    await rows.filter({ hasText: "two" }).getByText("udp", { exact: true }).waitFor();
    await page.getByRole("img", { name: /^Announces and queue/ }).waitFor();
    await act(page, "Switch a forwarder off", "Do it", { Name: "one" });
    await said(page, /one is off/);
    await rows.filter({ hasText: /one/ }).getByText("off", { exact: true }).waitFor();
  }));
