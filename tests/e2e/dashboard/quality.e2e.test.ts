// Everybody can use it: axe-core over every view, the keyboard, a phone, no jumps; and it is small.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Page } from "playwright-core";
import { findings, PHONE, widths } from "./axe.ts";
import { fillServer } from "./scene.ts";
import { Stage } from "./stage.ts";

const stage = await Stage.start("--demo");
const { failedId } = await fillServer(stage.server);
after(() => stage.close());

const VIEWS: readonly (readonly [name: string, path: string, ready: string])[] = [
  ["the overview", "#/", "reports"],
  ["lanes", "#/queues/mail/lanes", "noisy"],
  ["jobs", "#/queues/mail/jobs", '{"to":'],
  ["workers", "#/queues/mail/workers", "would take"],
  ["settings", "#/queues/mail/settings", "Tier order"],
  ["gates", "#/gates", "provider:slow"],
  ["a job", `#/jobs/${failedId}`, "added"],
];

const FIRST_VIEW_BYTES_MAX = 150_000;
const FIRST_PAINT_MS_MAX = 1_000;
const SHIFT_MAX = 0.05;

for (const [name, path, ready] of VIEWS) {
  for (const scheme of ["light", "dark"] as const) {
    test(`axe has nothing serious to say of ${name} in ${scheme}`, () =>
      stage.look(
        path,
        async (page) => {
          await page.getByText(ready).first().waitFor();
          assert.deepEqual(await findings(page), []);
        },
        { scheme },
      ));
  }

  test(`${name} fits a phone: nothing sticks out to the side`, () =>
    stage.look(
      path,
      async (page) => {
        await page.getByText(ready).first().waitFor();
        const [all, seen] = await widths(page);
        assert.ok(all <= seen, `${all} of ${seen}`);
        assert.deepEqual(await findings(page), []);
      },
      PHONE,
    ));
}

test("axe has nothing serious to say of a dialog", () =>
  stage.look("#/queues/mail", async (page) => {
    await page.getByRole("button", { name: "Add a test job" }).click();
    await page.getByRole("dialog").waitFor();
    assert.deepEqual(await findings(page), []);
  }));

test("everything can be reached and done with the keyboard alone", () =>
  stage.look("", async (page) => {
    await page.getByRole("link", { name: "mail", exact: true }).waitFor();
    await page.keyboard.press("Tab");
    assert.equal(await focused(page), "Skip to the content");
    await page.keyboard.press("Enter");
    await tabTo(page, "mail");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "mail" }).waitFor();
    await tabTo(page, "Pause");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await tabTo(page, "Pause");
    await page.keyboard.press("Enter");
    await page.locator(".said").getByText("mail is paused.").waitFor();
    assert.equal((await stage.server.call("GET /v1/queues/mail")).body.stats.paused, true);
    await stage.server.call("POST /v1/queues/mail/resume");
  }));

const focused = (page: Page): Promise<string> =>
  page.evaluate(() => document.activeElement?.textContent ?? "");

async function tabTo(page: Page, text: string): Promise<void> {
  const TABS_MAX = 60;
  for (let i = 0; i < TABS_MAX; i++) {
    await page.keyboard.press("Tab");
    if ((await focused(page)) === text) return;
  }
  assert.fail(`no way to ${text} with the Tab key`);
}

test("nothing jumps while figures change", () =>
  stage.look("#/queues/mail", async (page) => {
    await page.getByText("noisy").first().waitFor();
    await page.locator(".plot canvas").first().waitFor();
    const shift = await page.evaluate(async () => {
      let sum = 0;
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) sum += (entry as unknown as { value: number }).value;
      }).observe({ type: "layout-shift", buffered: false });
      await new Promise((done) => setTimeout(done, 4_000));
      return sum;
    });
    console.log(`# layout shift in 4 s: ${shift.toFixed(4)}`);
    assert.ok(shift <= SHIFT_MAX, `${shift}`);
  }));

test("the first view is small and there within a second", () =>
  stage.look("", async (page) => {
    // What was built for this checkout is there by now, as it is in what is published.
    await page.getByRole("link", { name: "mail", exact: true }).waitFor();
    const bytes = await page.evaluate(() =>
      [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
        .filter(({ name }) => !name.includes("/v1/"))
        .reduce((sum, entry) => sum + (entry as PerformanceResourceTiming).encodedBodySize, 0),
    );
    const paint = await page.evaluate(
      () => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? Infinity,
    );
    const meaningful = await page.evaluate(() => performance.now());
    console.log(`# first view: ${bytes} bytes, first paint ${Math.round(paint)} ms`);
    console.log(`# queues were shown ${Math.round(meaningful)} ms after the page was asked for`);
    assert.ok(bytes > 0 && bytes <= FIRST_VIEW_BYTES_MAX, `${bytes}`);
    assert.ok(paint < FIRST_PAINT_MS_MAX, `${paint}`);
  }));
