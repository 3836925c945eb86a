// Apps show their pages in the same frame, on the servers they run themselves.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { jobserverScene, retrackerScene, torznabScene } from "./app-scenes.ts";
import { findings, PHONE, widths } from "./axe.ts";
import { act, Stage, said } from "./stage.ts";

const scenes = [await jobserverScene(), await torznabScene(), await retrackerScene()] as const;
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
    test(`axe has nothing serious to say of the page of ${name} ${how}, and it fits`, () =>
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

test("the search service shows its indexers, and refuses in words what cannot be done", () =>
  torznab.look("", async (page) => {
    await page.getByRole("heading", { name: "Torznab", exact: true }).waitFor();
    const indexers = page.getByRole("region", { name: "Indexers" });
    await indexers.getByRole("row").filter({ hasText: "alpha" }).getByText("98 of 100").waitFor();
    await indexers.getByRole("row").filter({ hasText: "resting" }).getByText("paused").waitFor();
    const cooling = indexers.getByRole("row").filter({ hasText: "limited" });
    await cooling
      .getByText(/HTTP 429.*Retry-After/)
      .first()
      .waitFor();
    await page
      .getByText(/^\d\d:\d\d:\d\d$/)
      .first()
      .waitFor();
    await act(page, "End a cooldown", "Do it", { Indexer: "limited" });
    await said(page, /limited may be asked again/);
    await cooling.getByText("open", { exact: true }).waitFor();
    await act(page, "Test an indexer", "Do it", { Indexer: "nowhere" });
    await page
      .locator(".said, dialog .refusal")
      .getByText(/nowhere/)
      .waitFor();
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
