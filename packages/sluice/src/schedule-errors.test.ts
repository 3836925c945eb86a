import assert from "node:assert/strict";
import { test } from "node:test";
import { type ScheduleOptions, Sluice, type SluiceError } from "./index.ts";

test("an error about a schedule names the field that is wrong, and its value", async () => {
  await using sluice = await Sluice.open({ durability: "memory" });
  await sluice.queue("q");
  const cases: [options: object, message: RegExp][] = [
    [{ every: "1h", options: { cost: "x" } }, /^schedule\.options\.cost must be .*, got "x"$/],
    [{ every: "1h", options: { delay: "x" } }, /^schedule\.options\.delay must be .*, got "x"$/],
    [{ every: "1h", options: { prio: 1 } }, /^schedule\.options\.prio is not a known field/],
    [{ every: "1h", options: { payload: 1 } }, /^schedule\.options\.payload is not a known field/],
    [{ every: "1h", cron: "* * * * *" }, /one of cron, every and at, got "cron and every"$/],
    [{ payload: 1 }, /one of cron, every and at, got "none"$/],
    [{ at: ["2026-02-30"] }, /^schedule\.at\[0\] must be a Date.*, got "2026-02-30"$/],
    [{ at: ["2027-02-29T10:00:00Z"] }, /^schedule\.at\[0\] must be a Date/],
  ];
  for (const [options, message] of cases) {
    const given = { queue: "q", ...options } as ScheduleOptions & { queue: string };
    await assert.rejects(sluice.schedule("s", given), (error: SluiceError) => {
      assert.match(error.message, message);
      assert.equal(error.message.startsWith(error.details.field!), true, error.details.field);
      return true;
    });
  }
  // The last day of February in a leap year, and a time of another zone.
  await sluice.schedule("s", { queue: "q", at: ["2028-02-29", "2028-03-01T00:30:00+02:00"] });
});

test("a schedule that is looked for and missing says how to make it", async () => {
  await using sluice = await Sluice.open({ durability: "memory" });
  await sluice.queue("q");
  const code = "SCHEDULE_NOT_FOUND";
  const message =
    /^there is no schedule "s".*; to make it, give a queue and one of cron, every and/;
  await assert.rejects(sluice.schedule("s"), { code, message });
  await assert.rejects(sluice.schedule("s", { queue: "q" }), { code, message });
});
