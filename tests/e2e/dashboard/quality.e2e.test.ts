// Everybody can use it: axe-core over every view, the keyboard, a phone, no jumps; and it is small.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Page } from "playwright-core";
import { findings, PHONE, widths } from "./axe.ts";
import type { Look } from "./browser.ts";
import { pages } from "./pages.ts";
import { fillServer } from "./scene.ts";
import { Stage } from "./stage.ts";

const stage = await Stage.start("--demo");
const scene = await fillServer(stage.server);
after(() => stage.close());

const FIRST_VIEW_BYTES_MAX = 60_000;
const FIRST_PAINT_MS_MAX = 1_000;
const SHIFT_MAX = 0.02;

const LOOKS: readonly (readonly [how: string, look: Look])[] = [
  ["in light", { scheme: "light" }],
  ["in dark on a large screen", { scheme: "dark", width: 1920, height: 1080 }],
  ["in dark on a phone", { scheme: "dark", ...PHONE }],
];

for (const [how, look] of LOOKS) {
  test(`axe finds nothing on any page ${how}, and nothing sticks out to the side`, () =>
    stage.look(
      "",
      async (page) => {
        for (const [name, path, ready] of pages(scene)) {
          await page.goto(`${stage.server.address}/${path}`);
          await page.getByText(ready).first().waitFor();
          assert.deepEqual(await findings(page), [], name);
          const [all, seen] = await widths(page);
          assert.ok(all <= seen, `${name}: ${all} of ${seen}`);
        }
      },
      look,
    ));
}

test("the header reaches both edges, and figures are below their headings", () =>
  stage.look("", async (page) => {
    await page.getByRole("link", { name: "mail", exact: true }).waitFor();
    const edges = await page.evaluate(() => {
      const { left, right } = document.querySelector(".bar-top")!.getBoundingClientRect();
      const heads = [...document.querySelectorAll(".queues thead th")].slice(1);
      const rows = [...document.querySelectorAll(".queues tbody tr")];
      const end = (element: Element): number => {
        const range = document.createRange();
        range.selectNodeContents(element);
        return range.getBoundingClientRect().right;
      };
      const off = rows.flatMap((row) => {
        const figures = [...row.querySelectorAll("td .figure")];
        return heads.map((head, i) => Math.abs(end(head) - end(figures[i]!)));
      });
      return { left, right, window: innerWidth, off: Math.max(...off) };
    });
    assert.deepEqual([edges.left, edges.right], [0, edges.window]);
    assert.ok(edges.off <= 1, `${edges.off} px`);
  }));

test("axe finds nothing in a dialog", () =>
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
    await page.getByRole("button", { name: "Pause" }).waitFor();
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

const LIVE = [
  ["#/", "webhooks"],
  ["#/queues/mail", "noisy"],
  ["#/gates", "provider:slow"],
  ["#/schedules", "orders-to-s3"],
  ["#/workers", "process"],
] as const;

for (const [path, ready] of LIVE) {
  test(`nothing jumps on ${path} while figures change`, () =>
    stage.look(path, (page) => holdsStill(page, ready)));
}

// A queue or gate that appears, and a queue that begins to need attention, may move the others:
// then it is looked again.
async function holdsStill(page: Page, ready: string): Promise<void> {
  const LOOKS_MAX = 5;
  await page.getByText(ready).first().waitFor();
  if (ready === "noisy") await page.locator(".plot canvas").first().waitFor();
  const states = (): Promise<string[]> =>
    page
      .locator(".named .dot, .gate h2")
      .evaluateAll((all) =>
        all
          .map(
            (one) => `${one.textContent} ${one.nextElementSibling?.textContent} ${one.className}`,
          )
          .sort(),
      );
  for (let look = 1; ; look++) {
    const before = await states();
    const shift = await page.evaluate(shiftIn, 3_000);
    const isSame = JSON.stringify(before) === JSON.stringify(await states());
    console.log(`# layout shift in 3 s: ${shift.toFixed(4)}`);
    if (shift <= SHIFT_MAX) return;
    assert.ok(!isSame && look < LOOKS_MAX, `${shift}`);
  }
}

async function shiftIn(ms: number): Promise<number> {
  let sum = 0;
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) sum += (entry as unknown as { value: number }).value;
  });
  observer.observe({ type: "layout-shift", buffered: false });
  await new Promise((done) => setTimeout(done, ms));
  observer.disconnect();
  return sum;
}

/** The browser records the paint after the frame, so the entry may follow the text it painted. */
const firstPaint = (): Promise<number> =>
  new Promise((resolve) => {
    new PerformanceObserver((list, observer) => {
      const entry = list.getEntriesByName("first-contentful-paint")[0];
      if (entry === undefined) return;
      observer.disconnect();
      resolve(entry.startTime);
    }).observe({ type: "paint", buffered: true });
  });

test("the first view is small and there within a second", () =>
  stage.look("", async (page) => {
    // What was built for this checkout is there by now, as it is in what is published.
    await page.getByRole("link", { name: "mail", exact: true }).waitFor();
    const bytes = await page.evaluate(() =>
      [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
        .filter(({ name }) => !name.includes("/v1/"))
        .reduce((sum, entry) => sum + (entry as PerformanceResourceTiming).encodedBodySize, 0),
    );
    const paint = await page.evaluate(firstPaint);
    const meaningful = await page.evaluate(() => performance.now());
    console.log(`# first view: ${bytes} bytes, first paint ${Math.round(paint)} ms`);
    console.log(`# queues were shown ${Math.round(meaningful)} ms after the page was asked for`);
    assert.ok(bytes > 0 && bytes <= FIRST_VIEW_BYTES_MAX, `${bytes}`);
    assert.ok(paint < FIRST_PAINT_MS_MAX, `${paint}`);
  }));
