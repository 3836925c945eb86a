// What axe-core finds on a page, of every level.

import axe from "axe-core";
import type { Page } from "playwright-core";

export async function findings(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() =>
    (globalThis as unknown as { axe: typeof axe }).axe.run(document, {
      resultTypes: ["violations"],
    }),
  );
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
}

// Nothing may stick out to the side: the widths of what there is and of what is seen.
export function widths(page: Page): Promise<[all: number, seen: number]> {
  return page.evaluate(() => [
    document.documentElement.scrollWidth,
    document.documentElement.clientWidth,
  ]);
}

export const PHONE = { width: 390, height: 844 };
