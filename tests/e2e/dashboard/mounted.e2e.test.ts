// The dashboard mounted in another server: the Express example, seen in Chromium.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Page } from "playwright-core";
import { launch, open } from "./browser.ts";
import { freePort } from "./server.ts";
import { act, said } from "./stage.ts";

const root = dirname(dirname(dirname(import.meta.dirname)));
const SHOTS = process.env.SHOTS_DIR;

async function shop(t: TestContext): Promise<string> {
  const port = await freePort();
  const program = join(root, "examples", "dashboard-express.ts");
  const child = spawn(process.execPath, [program], {
    env: { ...process.env, PORT: String(port) },
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(() => child.kill());
  await once(child.stdout, "data");
  return `http://127.0.0.1:${port}`;
}

async function look(
  t: TestContext,
  username: string,
  work: (page: Page, address: string) => Promise<void>,
): Promise<void> {
  const address = await shop(t);
  const browser = await launch();
  t.after(() => browser.close());
  const { page, trouble } = await open(browser, address, {
    login: { username, password: "secret" },
  });
  // Without the slash: one is led to where the files are.
  await page.goto(`${address}/ops`);
  await page.locator(".line-mark.live").waitFor();
  assert.equal(page.url(), `${address}/ops/`);
  await work(page, address);
  if (SHOTS !== undefined) {
    mkdirSync(SHOTS, { recursive: true });
    await page.screenshot({ path: join(SHOTS, `mounted-${username}.png`) });
  }
  assert.deepEqual(trouble, []);
}

test("a user with the role full works on the mounted page as on a server's own", async (t) => {
  await look(t, "ann", async (page, address) => {
    assert.equal(await page.locator(".who").textContent(), "ann");
    await page.goto(`${address}/ops/#/queues/mail/jobs`);
    await act(page, "Pause", "Pause");
    await said(page, /paused/i);
    assert.equal(await page.getByRole("button", { name: "Log out" }).count(), 0);
  });
});

test("a user with the role read-only sees the same page without its actions", async (t) => {
  await look(t, "guest", async (page, address) => {
    assert.match((await page.locator(".who").textContent()) ?? "", /guest\s*read-only/);
    await page.goto(`${address}/ops/#/queues/mail`);
    await page.getByRole("heading", { name: "mail" }).waitFor();
    assert.equal(await page.getByRole("button", { name: "Pause" }).count(), 0);
    await page.goto(`${address}/ops/#/gates`);
    await page.getByLabel("Search gates").waitFor();
    assert.equal(await page.getByRole("button", { name: "Set a gate" }).count(), 0);
  });
});
