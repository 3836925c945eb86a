import assert from "node:assert/strict";
import { test } from "node:test";
import { type Line, plotOf } from "./plot.ts";

function line(name: string, median: number): Line {
  return { name, median, min: median * 0.9, max: median * 1.1, isOurs: name === "Sluice" };
}

function plot(...lines: Line[]): string {
  return plotOf({ title: "add → handler", unit: "ms", better: "less", lines });
}

function dots(svg: string): number[] {
  return [...svg.matchAll(/<circle class="dot" cx="([\d.]+)"/g)].map(([, x]) => Number(x));
}

test("more is further to the right, and every system has its line", () => {
  const svg = plot(line("Sluice", 100), line("B", 200), line("C", 150));
  const [sluice, b, c] = dots(svg);
  assert.ok(sluice! < c! && c! < b!);
  for (const name of ["Sluice", "B", "C"]) assert.ok(svg.includes(`>${name}</text>`));
});

test("an axis from zero shows twice as much twice as far", () => {
  const [a, b] = dots(plot(line("A", 100), line("B", 200)));
  assert.ok(Math.abs((b! - 190) / (a! - 190) - 2) < 0.02);
});

test("systems far apart get a logarithmic axis that says so", () => {
  const svg = plot(line("A", 1), line("B", 1000));
  assert.ok(svg.includes("logarithmic"));
  assert.ok(!plot(line("A", 1), line("B", 2)).includes("logarithmic"));
  const [a, b] = dots(svg);
  assert.ok(a! >= 190 && b! <= 760);
});

test("names are text and never markup", () => {
  const svg = plot(line("<script>&", 1), line("B", 2));
  assert.ok(svg.includes("&lt;script&gt;&amp;"));
  assert.ok(!svg.includes("<script>"));
});

test("a row of zeros is drawn as well", () => {
  assert.deepEqual(dots(plot(line("A", 0), line("B", 0))), [190, 190]);
});

test("less than nothing is left of it", () => {
  const [below, none, above] = dots(plot(line("A", -1), line("B", 0), line("C", 1)));
  assert.ok(190 <= below! && below! < none! && none! < above!);
});
