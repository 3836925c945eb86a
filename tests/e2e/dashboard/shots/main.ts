// Pictures of every view in light, in dark and on a phone: npm run shots [FOLDER]

import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Page } from "playwright-core";
import { jobserverScene, retrackerScene, torznabScene } from "../app-scenes.ts";
import { type Look, launch, open } from "../browser.ts";
import { fillServer } from "../scene.ts";
import { DashboardServer } from "../server.ts";

const LOOKS: Readonly<Record<string, Look>> = {
  light: { scheme: "light" },
  dark: { scheme: "dark" },
  phone: { scheme: "light", width: 390, height: 844 },
};

// Long enough for the charts to have lines.
const FEED_MS = Number(process.env.SHOTS_FEED_MS ?? 45_000);

const folder = resolve(process.argv[2] ?? "shots");
mkdirSync(folder, { recursive: true });
await using server = await DashboardServer.start("--demo", "--durability", "memory");
const { failedId } = await fillServer(server);
console.log(`the demo runs for ${FEED_MS / 1000} s`);
await new Promise((done) => setTimeout(done, FEED_MS));
await using browser = await launch();
for (const [name, look] of Object.entries(LOOKS)) {
  const { page } = await open(browser, server.address, look);
  for (const [view, path, ready] of views(failedId)) await shoot(page, name, view, path, ready);
  await page.context().close();
}
const APPS = [
  ["jobserver", jobserverScene, "Submitters"],
  ["torznab", torznabScene, "Latest requests"],
  ["retracker", retrackerScene, "Forwarders"],
] as const;
for (const [view, scene, ready] of APPS) {
  await using app = await scene();
  await new Promise((done) => setTimeout(done, FEED_MS / 3));
  for (const [name, look] of Object.entries(LOOKS)) {
    const { page } = await open(browser, app.server.address, look);
    await shoot(page, name, view, "#/apps", ready);
    await page.context().close();
  }
}
await shootLogin();

function views(id: string): readonly (readonly [view: string, path: string, ready: string])[] {
  return [
    ["overview", "#/", "mail"],
    ["queue", "#/queues/mail", "noisy"],
    ["jobs", "#/queues/mail/jobs", '{"to":'],
    ["workers", "#/queues/mail/workers", "would take"],
    ["settings", "#/queues/mail/settings", "Tier order"],
    ["gates", "#/gates", "provider:slow"],
    ["job", `#/jobs/${id}`, "added"],
  ];
}

async function shoot(page: Page, look: string, view: string, path: string, ready: string) {
  await page.goto(`${new URL(page.url()).origin}/${path}`);
  await page.getByText(ready).first().waitFor();
  await page.evaluate(() => new Promise((done) => setTimeout(done, 1_200)));
  await page.screenshot({ path: join(folder, `${view}-${look}.png`) });
  console.log(`${view}-${look}.png`);
}

async function shootLogin(): Promise<void> {
  await using locked = await DashboardServer.start("--keys", "--durability", "memory");
  for (const [name, look] of Object.entries(LOOKS)) {
    const { page } = await open(browser, locked.address, look);
    await shoot(page, name, "login", "", "API key");
    await page.context().close();
  }
}
