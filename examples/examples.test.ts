// Each example runs as a program of its own, and says what its page says it does.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";

/** The lines that an example prints, in a directory of its own. */
function linesOf(t: TestContext, example: string, runs = 1): string[][] {
  const cwd = mkdtempSync(join(tmpdir(), "sluice-example-"));
  t.after(() => rmSync(cwd, { recursive: true, force: true }));
  return Array.from({ length: runs }, () => {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [join(import.meta.dirname, example)],
      { cwd, encoding: "utf8" },
    );
    assert.equal(status, 0, stderr);
    assert.equal(stderr, "");
    return stdout.trimEnd().split("\n");
  });
}

test("mail: the tenant with one mail does not wait for the tenant with many", (t) => {
  const lines = [
    "sent to ann@big.example",
    "sent to eve@small.example",
    "sent to ben@big.example",
    "sent to cleo@big.example",
    "sent to dan@big.example",
  ];
  assert.deepEqual(linesOf(t, "mail.ts", 2), [lines, lines], "nothing is left for a second run");
});

test("rate limit: one refusal stops all jobs, and no attempt is lost", (t) => {
  const [lines = []] = linesOf(t, "rate-limit.ts");
  assert.equal(lines.at(-1), "5 requests for 4 jobs");
  const refusals = lines.filter((line) => line.includes("429"));
  assert.equal(refusals.length, 1);
  assert.equal(lines.indexOf(refusals[0] ?? ""), 2);
  assert.equal(lines.filter((line) => line.endsWith("(attempt 0)")).length, 4);
});

test("fan-out: the group ends when its last member has, and says how each did", (t) => {
  assert.deepEqual(linesOf(t, "fan-out.ts"), [
    ["added 4 jobs", "100: finished", "400: finished", "1600: finished", "6400: dead"],
  ]);
});

test("image pipeline: the album is published when every size has ended", (t) => {
  assert.deepEqual(linesOf(t, "image-pipeline.ts"), [
    ["cats: 400px 800000 B, 800px 1600000 B, 1600px 3200000 B, dead"],
  ]);
});

test("nightly: a night that fails does not end the schedule", (t) => {
  assert.deepEqual(linesOf(t, "nightly.ts"), [
    [
      "a night failed: Error: the database is away",
      "sales report of 2026-03-29T01:00:00.000Z",
      "sales report of 2026-03-30T01:00:00.000Z",
      "sales report of 2026-03-31T01:00:00.000Z",
      "4 nights, next 2026-04-01T01:00:00.000Z",
    ],
  ]);
});

test("fake clock: a month of reminders runs at once, and the same each time", (t) => {
  assert.deepEqual(linesOf(t, "fake-clock.ts"), [
    [
      "2030-05-02 bill-1 reminder 1",
      "2030-05-02 bill-2 reminder 1",
      "2030-05-09 bill-2 reminder 2",
      "2030-06-08 bill-2 reminder 3",
    ],
  ]);
});

const PUBLISHED = [
  "model: a plan for bees",
  "model: a text by a plan for bees, well considered",
  'published "bees", approved by ann',
];
const TEXT = "a text by a plan for bees, well considered, well considered";

test("agent: calls a model in steps, waits for an approval and publishes", (t) => {
  assert.deepEqual(linesOf(t, "agent.ts"), [[...PUBLISHED, TEXT]]);
});

test("agent: killed at every step boundary, it does each step once", (t) => {
  const cwd = mkdtempSync(join(tmpdir(), "sluice-example-"));
  t.after(() => rmSync(cwd, { recursive: true, force: true }));
  const file = join(import.meta.dirname, "agent.ts");
  let kills = 0;
  // Each life gets one boundary further than the one before, until the job has ended.
  for (;;) {
    const dieAfter = ["--die-after", String(kills)];
    const options = { cwd, encoding: "utf8" } as const;
    const { signal, stdout, stderr } = spawnSync(process.execPath, [file, ...dieAfter], options);
    if (signal === null) {
      assert.equal(stdout.trimEnd().split("\n").at(-1), TEXT, stderr);
      break;
    }
    assert.equal(signal, "SIGKILL", stderr);
    kills++;
  }
  assert.ok(kills >= 8, `${kills} kills`);
  const effects = readFileSync(join(cwd, "agent-data-effects.txt"), "utf8");
  assert.deepEqual(effects.trimEnd().split("\n"), PUBLISHED);
});
