// A hundred thousand lanes and a thousand queues: the server sorts, searches and sends a page.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Stage } from "./stage.ts";

const LANES = 100_000;
const QUEUES = 1_000;
const AT_ONCE = 10_000;
const ANSWER_MS_MAX = 200;
const TRIES = 9;

const stage = await Stage.start();
after(() => stage.close());
const call = (line: string, body?: unknown) => stage.server.call(line, body);

await call("PUT /v1/queues/big", { capacity: { jobs: 2 * LANES } });
for (let from = 0; from < LANES; from += AT_ONCE) {
  const jobs = Array.from({ length: AT_ONCE }, (_, i) => ({
    payload: 1,
    fairnessKey: `tenant-${String(from + i).padStart(6, "0")}`,
  }));
  await call("POST /v1/queues/big/jobs", { jobs });
}
for (let i = 0; i < QUEUES; i++) await call(`PUT /v1/queues/q${String(i).padStart(3, "0")}`, {});

const ADDRESSES = [
  "/v1/queues/big/lanes?sort=waiting&limit=25",
  "/v1/queues/big/lanes?sort=waiting&limit=25&search=tenant-099",
  "/v1/overview?limit=50",
  "/v1/queues/big/jobs?state=waiting&limit=25",
];

for (const address of ADDRESSES) {
  test(`${address} answers within ${ANSWER_MS_MAX} ms, and not with everything`, () =>
    stage.look("#/queues/big", async (page) => {
      await page.getByText("tenant-").first().waitFor();
      const found = await page.evaluate(
        async ([path, tries]) => {
          const times: number[] = [];
          let bytes = 0;
          for (let i = 0; i < tries; i++) {
            const since = performance.now();
            bytes = (await (await fetch(path)).text()).length;
            times.push(performance.now() - since);
          }
          return { times: times.sort((a, b) => a - b), bytes };
        },
        [address, TRIES] as const,
      );
      const median = found.times[Math.floor(TRIES / 2)]!;
      console.log(`# ${address}: median ${Math.round(median)} ms, ${found.bytes} bytes`);
      assert.ok(median < ANSWER_MS_MAX, `${found.times.map(Math.round)}`);
      assert.ok(found.bytes < 100_000, `${found.bytes}`);
    }));
}

test("one lane of a hundred thousand is found, and pages are turned", () =>
  stage.look("#/queues/big", async (page) => {
    await page
      .locator(".asides span")
      .filter({ hasText: "lanes" })
      .getByText(/100.000/)
      .waitFor();
    await page.getByRole("button", { name: "Next" }).click();
    await page.getByText("page 2").waitFor();
    await page.getByLabel("Search lanes").fill("tenant-077777");
    await page.getByRole("rowheader", { name: "tenant-077777" }).waitFor();
    await page.getByText("page 2").waitFor({ state: "detached" });
    assert.equal(await page.locator("table.lanes tbody tr").count(), 1);
  }));

test("one queue of a thousand is found, and pages are turned", () =>
  stage.look("", async (page) => {
    await page.getByText(/1.001 queues/).waitFor();
    assert.ok((await page.locator("tbody tr").count()) <= 50);
    await page.getByRole("button", { name: "Next" }).click();
    await page.getByText("page 2").waitFor();
    await page.getByLabel("Search queues").fill("q777");
    await page.getByRole("link", { name: "q777" }).waitFor();
    await page.getByText(/\b1 queue\b/).waitFor();
  }));
