// Apps show their pages in the same frame, on the servers they run themselves.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { Server } from "./server.ts";
import { act, Stage, said } from "./stage.ts";

const jobserver = await Stage.over(await Server.startApp("jobserver", {}));
const torznab = await Stage.over(await Server.startApp("torznab", {}));
const forwarders = join(mkdtempSync(join(tmpdir(), "sluice-forwarders-")), "list.yml");
writeFileSync(forwarders, "- uri: udp://127.0.0.1:9/announce\n  name: one\n");
const retracker = await Stage.over(
  await Server.startApp("retracker", {
    RETRACKER_LISTEN: "127.0.0.1:0",
    RETRACKER_UDP_LISTEN: "",
    RETRACKER_FORWARDERS: forwarders,
  }),
);
after(async () => {
  for (const stage of [jobserver, torznab, retracker]) await stage.close();
  rmSync(dirname(forwarders), { recursive: true });
});

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
    await page.getByRole("heading", { name: "Indexers" }).waitFor();
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
    await rows.filter({ hasText: "active" }).waitFor();
    await page.getByRole("img", { name: /^Announces and queue/ }).waitFor();
    await act(page, "Switch a forwarder off", "Do it", { Name: "one" });
    await said(page, /one is off/);
    await rows.filter({ hasText: /one/ }).filter({ hasNotText: "active" }).waitFor();
  }));
