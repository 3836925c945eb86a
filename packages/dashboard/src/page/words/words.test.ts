import assert from "node:assert/strict";
import { test } from "node:test";
import type { OverviewItem, Standing } from "@sluice/protocol";
import { answerQueue, GATE_OPTIONS, parseGate, parseQueue, QUEUE_OPTIONS } from "@sluice/protocol";
import { alignSeries } from "./align-series.ts";
import {
  age,
  ago,
  bytes,
  count,
  countdown,
  duration,
  laneAddress,
  laneText,
  percent,
  rate,
} from "./format.ts";
import { gateLimits } from "./gate-limits.ts";
import { missingText } from "./missing.ts";
import { newJob } from "./new-job.ts";
import { changesOf, draftOf, readDraft, withItem, withoutItem } from "./option-form.ts";
import { cut, pretty, previewLine } from "./preview.ts";
import { link, parseRoute } from "./route.ts";
import { sparkPath } from "./spark-path.ts";
import { isTrouble, standingText } from "./standing.ts";
import { timeline } from "./timeline.ts";
import { visible } from "./visible.ts";

const plain = (text: string): string => text.replaceAll("\u202f", " ");

test("figures are short and keep their meaning", () => {
  assert.equal(plain(count(2_003)), "2 003");
  assert.equal(plain(count(1_234_567)), "1.2 M");
  assert.equal(rate(0), "0");
  assert.equal(rate(0.25), "0.3");
  assert.equal(percent(0), "0%");
  assert.equal(percent(0.0004), "<0.1%");
  assert.equal(percent(0.031), "3.1%");
  assert.equal(percent(1), "100%");
  assert.equal(plain(bytes(52_700)), "51.5 kB");
  assert.equal(plain(bytes(1_000_000)), "977 kB");
});

test("how long ago something was has one unit, and is no clock", () => {
  const thin = "\u202f";
  const said = [999, 26_900, 159_000, 3_600_000, 100_000_000].map(ago);
  const times = ["26 s", "2 min", "1 h", "1 d"].map((text) => text.replace(" ", thin));
  assert.deepEqual(said, ["just now", ...times.map((text) => `${text} ago`)]);
});

test("durations have two units at most, countdowns are clocks", () => {
  const cases: [number, string][] = [
    [-5, "0 ms"],
    [999, "999 ms"],
    [1_000, "1 s"],
    [61_000, "1 min 1 s"],
    [600_000, "10 min"],
    [3_600_000 * 26, "1 d 2 h"],
  ];
  for (const [ms, text] of cases) assert.equal(plain(duration(ms)), text);
  assert.equal(countdown(61_200), "01:02");
  assert.equal(countdown(3_600_000), "1:00:00");
  assert.equal(countdown(-1), "00:00");
  assert.deepEqual(
    [5_000, 94_000, 90_000_000].map((ms) => plain(age(ms))),
    ["5 s", "01:34", "1 d 1 h"],
  );
});

test("lanes have names and addresses, paths too", () => {
  assert.equal(laneText(""), "(default)");
  assert.equal(laneText(["acme", "ann"]), "acme / ann");
  assert.equal(laneAddress("acme"), "acme");
  assert.equal(laneAddress("[x]"), '"[x]"', "not to be taken for a path");
  assert.equal(laneAddress(["a", "b"]), '["a","b"]');
});

const STATS = { waiting: 3, running: 0, delayed: 0 } as OverviewItem["stats"];
const queue = (standing: Standing | undefined, outRate = 0, stats = STATS): OverviewItem => ({
  name: "q",
  stats,
  inRate: 0,
  outRate,
  failureRate: 2,
  deadLetters: 0,
  ...(standing === undefined ? {} : { standing }),
});

test("a queue that does not move says why in words", () => {
  const now = Date.parse("2026-01-01T12:00:00Z");
  const until = now + 3_600_000;
  const text = (standing: Standing, outRate = 0): string =>
    standingText(queue(standing, outRate), now);
  assert.equal(text({ reason: "no-workers" }), "no workers");
  assert.equal(text({ reason: "failing" }), "all jobs fail, 2.0 a second");
  assert.match(text({ reason: "capacity", limit: 5 }), /^limit of 5 running reached/);
  assert.match(text({ reason: "delayed", until }), /^nothing is due until \d\d:\d\d$/);
  assert.match(text({ reason: "busy" }), /^all workers are busy/);
  const smtp = { gate: "smtp", part: "cooldown", note: "429", lanes: 2 } as const;
  const gated = { reason: "gated", gates: [smtp], gatesTotal: 1 } satisfies Standing;
  assert.match(
    text({ ...gated, gates: [{ ...smtp, until }] }),
    /^all gated by smtp \(a cooldown\) until \d\d:\d\d: 429$/,
  );
  assert.match(text(gated), /until something is released: 429$/);
  assert.equal(text(gated, 4), "moving, held back by smtp (a cooldown)");
  assert.equal(isTrouble(queue(gated, 4)), false, "it moves, at the gate's pace");
  assert.equal(isTrouble(queue(gated)), true);
  for (const reason of ["dead-letters", "delayed"] as const) {
    assert.equal(isTrouble(queue({ reason })), false);
  }
});

test("of several gates each is named, and what was not looked at is not claimed", () => {
  const now = Date.parse("2026-01-01T12:00:00Z");
  const shut = { gate: "shut", part: "rate", lanes: 2 } as const;
  const smtp = { gate: "smtp", part: "cooldown", until: now + 3_600_000, lanes: 1 } as const;
  const several: Standing = { reason: "gated", gates: [shut, smtp], gatesTotal: 4 };
  assert.match(
    standingText(queue(several), now),
    /^all gated: 2 lanes by shut, which is closed \(a rate of 0\); 1 lane by smtp \(.*, and 2 more$/,
  );
  const sample: Standing = { reason: "gated", gates: [shut] };
  assert.match(standingText(queue(sample), now), /^gated, its oldest job by shut/);
});

test("a queue that does not stand still is said to move only when it does", () => {
  const text = (outRate: number, waiting: number, running: number): string =>
    standingText(queue(undefined, outRate, { ...STATS, waiting, running }), 0);
  assert.equal(text(1, 5, 2), "moving, 2 running");
  assert.equal(text(0, 5, 2), "2 running");
  assert.equal(text(0, 0, 0), "empty");
});

test("what cannot be seen, or turns a text around, is shown as what it is", () => {
  assert.equal(visible("a\u202egnp.exe\u0000"), "a\\u202egnp.exe\\u0000");
  assert.equal(visible("שלום 🚀 <b>\n"), "שלום 🚀 <b>\n");
  assert.equal(laneText("\u202egnp"), "\\u202egnp");
  assert.equal(previewLine({ payload: "\u202e" }), '"\\u202e"');
});

test("settings go into a form and come back as they were", () => {
  const gate = {
    rate: 5,
    burst: 10,
    interval: { every: 200, from: "start" },
    windows: [{ limit: 100, per: 60_000 }],
    ladder: [1_000, 60_000],
  };
  const { value, errors } = readDraft(GATE_OPTIONS, draftOf(GATE_OPTIONS, gate));
  assert.deepEqual([parseGate(value), errors], [parseGate(gate), {}]);
  assert.deepEqual(readDraft(GATE_OPTIONS, draftOf(GATE_OPTIONS, {})).value, {});
  const { config } = parseQueue("mail", {
    weights: { "acme*": 2, "a=b": 3 },
    tiers: ["urgent", { name: "usual", capacity: 5 }],
    tierOrder: [4, 1],
    admission: { fill: 0.5, rate: 2 },
    policy: { fairnessKey: "{headers.tenant}", gates: ["smtp", "to:{headers.to}"], ttl: "1h" },
  });
  const queue = { ...answerQueue(config) };
  const read = readDraft(QUEUE_OPTIONS, draftOf(QUEUE_OPTIONS, queue));
  assert.deepEqual(read.errors, {});
  assert.deepEqual(parseQueue("mail", read.value).config, config);
});

test("lists the limits of a gate in a line", () => {
  const config = {
    rate: 5,
    burst: 10,
    interval: { every: 200, from: "start" as const },
    windows: [{ limit: 100, per: 60_000 }],
    ladder: [1_000],
  };
  assert.deepEqual(gateLimits(config).map(plain), [
    "5.0/s, burst 10",
    "every 200 ms from the start",
    "100 per 1 min",
    "ladder of 1",
  ]);
  assert.deepEqual(gateLimits({ rate: 0 }), ["closed"]);
  assert.deepEqual(gateLimits(undefined), ["no limits"]);
});

test("what a form says is checked at each field", () => {
  const draft = {
    ...draftOf(QUEUE_OPTIONS, {}),
    lease: "soon",
    weight: "0",
    "retry.jitter": "2",
    "admission.fill": "0.5",
  };
  const { errors } = readDraft(QUEUE_OPTIONS, draft);
  assert.deepEqual(Object.keys(errors).sort(), [
    "admission.rate",
    "lease",
    "retry.jitter",
    "weight",
  ]);
  assert.equal(errors.weight, "must be an integer from 1 to 1000000, got 0");
});

test("items of a list are added and removed", () => {
  const rows = GATE_OPTIONS.windows.kind.parts!;
  const one = withItem(draftOf(GATE_OPTIONS, {}), "windows", rows);
  const two = {
    ...withItem(one, "windows", rows),
    "windows[1].limit": "7",
    "windows[1].per": "1h",
  };
  const left = withoutItem(two, "windows", 0);
  assert.deepEqual(readDraft(GATE_OPTIONS, left).value, { windows: [{ limit: 7, per: "1h" }] });
  assert.deepEqual(Object.keys(readDraft(GATE_OPTIONS, one).errors), [
    "windows[0].limit",
    "windows[0].per",
  ]);
});

test("only what changed is saved", () => {
  assert.deepEqual(changesOf({ a: 1, b: [2] }, { a: 1, b: [3] }), { b: [3] });
});

test("a test job is what its form says, or is refused in words", () => {
  const form = { payload: "{}", lane: '["a","b"]', tier: "1", gates: "x, y,", delay: "1.5" };
  assert.deepEqual(newJob(form), {
    payload: {},
    fairnessKey: ["a", "b"],
    priority: 1,
    gates: ["x", "y"],
    delay: 1_500,
  });
  assert.deepEqual(newJob({ payload: "1", tier: "urgent" }), { payload: 1, priority: "urgent" });
  assert.throws(() => newJob({ payload: "{" }), /payload is not JSON/);
  assert.throws(() => newJob({ payload: "1", delay: "soon" }), /number of seconds/);
});

test("payloads are cut, never lost", () => {
  assert.equal(previewLine({ payload: { a: 1 } }), '{"a":1}');
  assert.equal(previewLine({ payloadBase64: "AP8=" }), "base64 AP8=");
  assert.equal(previewLine({ payloadStart: '{"a":' }), '{"a":…');
  assert.equal(previewLine({ payloadStartBase64: "AP8=" }), "base64 AP8=");
  assert.equal(previewLine({ payload: "x".repeat(500) }).length, 121);
  assert.equal(pretty("<b>"), '"<b>"');
  assert.equal(cut("abc", 2), "ab…");
});

test("addresses lead where they came from, whatever is in a name", () => {
  for (const name of ["mail", "a/b", "100%", "<img src=x>", "ü:*"]) {
    assert.deepEqual(parseRoute(link("gates", name)), { view: "gates", gate: name });
  }
  assert.deepEqual(parseRoute(""), { view: "overview" });
  assert.deepEqual(parseRoute("#/queues/q/jobs"), { view: "queue", queue: "q", tab: "jobs" });
  assert.deepEqual(parseRoute("#/queues/q/?"), { view: "queue", queue: "q", tab: "lanes" });
  assert.deepEqual(parseRoute("#/gates/%E0%A4%A"), { view: "gates", gate: "%E0%A4%A" });
  assert.deepEqual(parseRoute("#/nowhere"), { view: "lost" });
});

test("a life tells what lay between two moments", () => {
  const history = [
    { at: 0, event: "added" as const },
    { at: 3_000, event: "dispatched" as const, detail: "lease 1" },
    { at: 3_010, event: "ended" as const, detail: "finished" },
  ];
  const moments = timeline(history, { gates: ["smtp"] });
  assert.deepEqual(
    moments.map(({ event, tone }) => [event, tone]),
    [
      ["added", "plain"],
      ["waited", "wait"],
      ["dispatched", "plain"],
      ["ended", "good"],
    ],
  );
  const all = "3 s, until it was due, a worker was free, its turn came";
  assert.equal(plain(moments[1]!.detail), `${all} and smtp let it pass`);
  assert.equal(plain(timeline(history, { gates: [] })[1]!.detail), all);
});

test("lines with times of their own are brought together", () => {
  const { times, lines } = alignSeries([
    [
      [1, 10],
      [3, 30],
    ],
    [[2, 20]],
  ]);
  assert.deepEqual(times, [1, 2, 3]);
  assert.deepEqual(lines, [
    [10, null, 30],
    [null, 20, null],
  ]);
});

test("a small line begins at zero and has gaps where nothing is known", () => {
  assert.equal(sparkPath([null, 0, 10], 10, 12), "M5.0 11.0L10.0 1.0");
  assert.equal(sparkPath([1, null, 1], 10, 12), "M0.0 1.0M10.0 1.0");
  assert.equal(sparkPath([], 10, 12), "");
});

test("partitions that do not answer are named", () => {
  assert.equal(missingText(undefined), undefined);
  assert.equal(missingText([]), undefined);
  const one = "Partition 3 does not answer: what it holds is not shown here.";
  assert.equal(missingText([3]), one);
  const two = "Partitions 3, 5 do not answer: what they hold is not shown here.";
  assert.equal(missingText([3, 5]), two);
});
