// Pictures of every view, light and dark, on a large screen, a laptop and a phone:
//
//   npm run shots [FOLDER] [VIEW,VIEW...]

import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Page } from "playwright-core";
import { jobserverScene, retrackerScene, torznabScene } from "../app-scenes.ts";
import { type Look, launch, open } from "../browser.ts";
import { followDeadLetter, pager } from "../dead-letter.ts";
import { pages } from "../pages.ts";
import { fillServer } from "../scene.ts";
import { DashboardServer } from "../server.ts";

const LOOKS: Readonly<Record<string, Look>> = {
  light: { scheme: "light" },
  dark: { scheme: "dark" },
  wide: { scheme: "light", width: 1920, height: 1080 },
  "wide-dark": { scheme: "dark", width: 1920, height: 1080 },
  phone: { scheme: "light", width: 390, height: 844 },
  "phone-dark": { scheme: "dark", width: 390, height: 844 },
};

// Long enough for the charts to have lines.
const FEED_MS = Number(process.env.SHOTS_FEED_MS ?? 45_000);

const folder = resolve(process.argv[2] ?? "shots");
mkdirSync(folder, { recursive: true });
await using server = await DashboardServer.start("--demo", "--durability", "memory");
const scene = await fillServer(server);
const wanted = process.argv[3]?.split(",");
const isWanted = (view: string): boolean => wanted === undefined || wanted.includes(view);
console.log(`the demo runs for ${FEED_MS / 1000} s`);
await new Promise((done) => setTimeout(done, FEED_MS));
await using browser = await launch();
for (const [name, look] of Object.entries(LOOKS)) {
  const { page } = await open(browser, server.address, look);
  for (const [view, path, ready] of pages(scene)) {
    if (isWanted(view)) await shoot(page, name, view, path, ready);
  }
  await page.context().close();
}
const APPS = [
  ["jobserver", jobserverScene, "Submitters"],
  ["torznab", torznabScene, "Latest requests"],
  ["retracker", retrackerScene, "Forwarders"],
] as const;
for (const [view, appScene, ready] of APPS) {
  if (!isWanted(view)) continue;
  await using app = await appScene();
  // A page of an app has a point of its charts every ten seconds.
  await new Promise((done) => setTimeout(done, (FEED_MS * 2) / 3));
  for (const [name, look] of Object.entries(LOOKS)) {
    const { page } = await open(browser, app.server.address, look);
    await shoot(page, name, view, "#/apps", ready);
    await page.context().close();
  }
}
if (isWanted("login")) await shootLogin();
if (isWanted("dead-letter")) await shootDeadLetter();

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

// The pictures of docs/guides/dead-letter.md.
async function shootDeadLetter(): Promise<void> {
  const { server: receiver, host } = await pager();
  try {
    const words = ["--webhook-hosts", host, "--durability", "memory"];
    await using own = await DashboardServer.start(...words);
    const { page } = await open(browser, own.address, { height: 720 });
    await followDeadLetter(page, own, receiver, async (name) => {
      await page.evaluate(() => new Promise((done) => setTimeout(done, 1_200)));
      await page.screenshot({ path: join(folder, `${name}.png`) });
      console.log(`${name}.png`);
    });
  } finally {
    receiver.closeAllConnections();
    receiver.close();
  }
}
