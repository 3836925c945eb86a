// The figures of the comparison are those of the benchmarks.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const DOCS = join(import.meta.dirname, "..", "..", "..", "docs");
const read = (page: string): string => readFileSync(join(DOCS, page), "utf8");

/** The medians that a section of the benchmarks has, by system. */
function mediansOf(title: string): Map<string, string> {
  const section =
    read("benchmarks.md")
      .split("\n### ")
      .find((text) => text.startsWith(title)) ?? "";
  const rows = section.matchAll(/^\| ([^|]+) \|[^|]*\| ([^|(]+) \(/gm);
  return new Map([...rows].map(([, name = "", median = ""]) => [name, median]));
}

const SECTIONS = [
  "Produce and drain at once, everybody but JetStream syncs",
  "Add → handler, one at a time, everybody but JetStream syncs, p50\n",
  "One tenant floods: wait of the quiet, p50",
];

test("the figures of the comparison are those of the benchmarks", () => {
  const page = read("comparison.md").split("\n## Figures\n")[1]?.split("\n## ")[0] ?? "";
  const rows = [...page.matchAll(/^\| ([^|-][^|]*) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$/gm)];
  assert.ok(rows.length > 8, `${rows.length} rows`);
  for (const [i, section] of SECTIONS.entries()) {
    const medians = mediansOf(section);
    for (const row of rows)
      assert.equal(row[i + 2], medians.get(row[1] ?? ""), `${section}: ${row[1]}`);
  }
  const [date] = /\d{4}-\d\d-\d\d/.exec(page) ?? [];
  assert.match(read("benchmarks.md"), new RegExp(`backlog of 200,000; ${date}`));
});
