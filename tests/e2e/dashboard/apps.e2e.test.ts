// Apps show their pages in the same frame, on the servers they run themselves.

import { after, test } from "node:test";
import { Server } from "./server.ts";
import { act, Stage, said } from "./stage.ts";

const stage = await Stage.over(await Server.startApp("jobserver", {}));
after(() => stage.close());

test("the job server shows its tiers, its submitters and its list, and does what it offers", () =>
  stage.look("", async (page) => {
    await page.getByRole("heading", { name: "Job server" }).waitFor();
    const tiers = page.getByRole("region", { name: "Tiers" });
    await tiers.getByRole("row").filter({ hasText: "fast" }).waitFor();
    await stage.server.call("POST /job/add", { type: "echo", worker_id: "acme", arguments: {} });
    const submitters = page.getByRole("region", { name: "Submitters" });
    await submitters.getByRole("row").filter({ hasText: "acme" }).waitFor();
    await act(page, "Fetch the priority list now", "Do it");
    await said(page, /There is no endpoint to ask/);
  }));
