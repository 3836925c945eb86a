// The documentation site as a reader meets it: built, served as plain files, opened in a browser.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import { after, before, test } from "node:test";
import type { Browser } from "playwright-core";
import { launch, open } from "../dashboard/browser.ts";

const ROOT = join(import.meta.dirname, "..", "..", "..");
const SITE = join(ROOT, "dist", "site");
const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".txt": "text/plain",
};

let server: Server;
let browser: Browser;
let address: string;

before(async () => {
  const args = [join(ROOT, "scripts", "docs.ts"), "build"];
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: "utf8" });
  assert.equal(status, 0, stderr);
  server = createServer(({ url = "/" }, response) => {
    const path = join(SITE, new URL(url, "http://site").pathname.replace(/\/$/, "/index.html"));
    const type = TYPES[extname(path)] ?? "application/octet-stream";
    if (!existsSync(path)) response.writeHead(404).end();
    else response.writeHead(200, { "content-type": type }).end(readFileSync(path));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  browser = await launch();
});

after(async () => {
  await browser?.close();
  server?.close();
});

test("the first page leads to the installation, in light and dark", async () => {
  for (const scheme of ["light", "dark"] as const) {
    const { page, trouble } = await open(browser, address, { scheme });
    await page.getByRole("link", { name: "Start in two minutes" }).click();
    await page.getByRole("heading", { name: "Install", level: 1 }).waitFor();
    const isDark = await page.evaluate(() => document.documentElement.classList.contains("dark"));
    assert.equal(isDark, scheme === "dark");
    assert.deepEqual(trouble, []);
    await page.context().close();
  }
});

test("the search finds an error by its code", async () => {
  const { page, trouble } = await open(browser, address);
  await page.getByRole("button", { name: "Search" }).first().click();
  await page.getByRole("searchbox").fill("QUEUE_FULL");
  const found = page.locator(".result").filter({ hasText: "Errors" }).first();
  await found.click();
  await page.waitForURL(/reference\/errors/);
  await page.getByRole("heading", { name: "QUEUE_FULL" }).waitFor();
  assert.deepEqual(trouble, []);
  await page.context().close();
});

test("a phone shows a page without scrolling sideways, and its menu", async () => {
  const { page, trouble } = await open(browser, address, { width: 390 });
  await page.goto(`${address}/start/tutorial.html`);
  const heading = page.getByRole("heading", { name: "Tutorial: twenty minutes" });
  await heading.waitFor();
  const over = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  assert.equal(over, 0);
  await page.getByRole("button", { name: "Menu" }).click();
  await page.locator(".VPSidebar").getByRole("link", { name: "Install" }).waitFor();
  assert.deepEqual(trouble, []);
  await page.context().close();
});

test("a program is shown with the name of its file", async () => {
  const { page, trouble } = await open(browser, address);
  await page.goto(`${address}/start/tutorial.html`);
  const names = await page.locator(".file-name").allTextContents();
  assert.deepEqual(names.slice(0, 3), ["first.ts", "fair.ts", "limit.ts"]);
  assert.deepEqual(trouble, []);
  await page.context().close();
});

test("programs can read all pages as text", () => {
  const text = readFileSync(join(SITE, "llms-full.txt"), "utf8");
  for (const title of ["# Tutorial", "# Errors", "# Options", "# Coming from BullMQ"]) {
    assert.ok(text.includes(`\n${title}`), title);
  }
  const list = readFileSync(join(SITE, "llms.txt"), "utf8");
  for (const [, path = ""] of list.matchAll(/\]\(\/([^)]+)\)/g)) {
    assert.ok(existsSync(join(SITE, path)), path);
  }
});
