// Debian's Chromium, and pages in it that notice everything that goes wrong.

import { type Browser, chromium, type Page } from "playwright-core";
import { needProgram } from "../debian.ts";

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export function launch(): Promise<Browser> {
  needProgram("chromium", "chromium");
  return chromium.launch({ executablePath: "/usr/bin/chromium", args: FLAGS });
}

export interface Look {
  readonly width?: number;
  readonly height?: number;
  readonly scheme?: "light" | "dark";
  readonly zone?: string;
  // For a server with a login of its own.
  readonly login?: { readonly username: string; readonly password: string };
}

export interface Watched {
  readonly page: Page;
  // Errors of scripts, breaches of the content security policy, dialogs of scripts, and requests
  // that left the server.
  readonly trouble: string[];
}

export async function open(browser: Browser, address: string, look: Look = {}): Promise<Watched> {
  const { width = 1280, height = 900, scheme = "light", zone = "Europe/Berlin" } = look;
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: scheme,
    timezoneId: zone,
    reducedMotion: "reduce",
    ...(look.login === undefined ? {} : { httpCredentials: look.login }),
  });
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  const trouble: string[] = [];
  page.on("pageerror", (error) => trouble.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => {
    trouble.push(`a script has said ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("console", (message) => {
    if (/content security policy/i.test(message.text())) trouble.push(message.text());
  });
  page.on("request", (request) => {
    if (!request.url().startsWith(address)) trouble.push(`left the server: ${request.url()}`);
  });
  await page.goto(address);
  return { page, trouble };
}
