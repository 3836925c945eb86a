// Apps show their pages in the same frame, on the servers they run themselves.

import { after, test } from "node:test";
import { Server } from "./server.ts";
import { act, Stage, said } from "./stage.ts";

const jobserver = await Stage.over(await Server.startApp("jobserver", {}));
const torznab = await Stage.over(await Server.startApp("torznab", {}));
after(async () => {
  await jobserver.close();
  await torznab.close();
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
