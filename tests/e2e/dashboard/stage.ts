// A browser and a server for the tests of one file, and looks at both.

import assert from "node:assert/strict";
import type { Browser, Page } from "playwright-core";
import { type Look, launch, open, type Watched } from "./browser.ts";
import { DashboardServer } from "./server.ts";

export class Stage {
  readonly server: DashboardServer;
  readonly browser: Browser;

  private constructor(server: DashboardServer, browser: Browser) {
    this.server = server;
    this.browser = browser;
  }

  static async start(...args: string[]): Promise<Stage> {
    const server = await DashboardServer.start("--durability", "memory", ...args);
    return Stage.over(server);
  }

  static async over(server: DashboardServer): Promise<Stage> {
    const browser = await launch();
    return new Stage(server, browser);
  }

  async close(): Promise<void> {
    await this.browser.close();
    await this.server[Symbol.asyncDispose]();
  }

  // Runs a test in a page of its own, and holds that nothing went wrong in it.
  async look(path: string, work: (page: Page) => Promise<void>, look: Look = {}): Promise<void> {
    const watched: Watched = await open(this.browser, this.server.address, look);
    const { page, trouble } = watched;
    try {
      await page.goto(`${this.server.address}/${path}`);
      await work(page);
      assert.deepEqual(trouble, []);
    } finally {
      await page.context().close();
    }
  }
}

// Opens the dialog of an action, and answers it.
export async function act(
  page: Page,
  button: string,
  verb: string,
  fields: Readonly<Record<string, string>> = {},
): Promise<void> {
  await page.getByRole("button", { name: button, exact: true }).first().click();
  const dialog = page.getByRole("dialog");
  await dialog.waitFor();
  for (const [label, value] of Object.entries(fields)) {
    await dialog.getByLabel(label, { exact: false }).fill(value);
  }
  await dialog.getByRole("button", { name: verb, exact: true }).click();
}

// Answers the dialog that is open.
export async function confirm(page: Page, verb: string): Promise<void> {
  await page.getByRole("dialog").getByRole("button", { name: verb, exact: true }).click();
}

export async function said(page: Page, text: RegExp): Promise<void> {
  await page.locator(".said").getByText(text).waitFor();
}
