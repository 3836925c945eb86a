import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { mainReadme } from "./readme.ts";

test("a package page shows the README's pictures, and its links lead to the repository", () => {
  const text = mainReadme(join(import.meta.dirname, "../.."), "https://example.org/sluice");
  const targets = [...text.matchAll(/(!?)\[[^\]]*\]\(([^)]+)\)/g)];
  const pictures = targets.filter(([, mark]) => mark === "!").map(([, , target]) => target!);
  const links = targets.filter(([, mark]) => mark === "").map(([, , target]) => target!);
  assert.equal(pictures.length, 5);
  for (const picture of pictures) {
    assert.match(picture, /^https:\/\/example\.org\/sluice\/raw\/main\/docs\/.+\.(svg|png)$/);
  }
  assert.ok(links.length > 20);
  for (const link of links) assert.match(link, /^(https:\/\/|#)/);
  assert.ok(links.includes("https://example.org/sluice/blob/main/docs/dashboard.md"));
});
