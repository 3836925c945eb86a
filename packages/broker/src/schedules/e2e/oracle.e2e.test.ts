/** Two years in twenty zones, against an oracle that looks at every minute. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { test } from "node:test";
import { CronTimes } from "../cron-times.ts";
import { CRONS, ZONES } from "./zones.ts";

const PROGRAM = join(import.meta.dirname, "oracle.py");
const MINUTE_MS = 60_000;

/** Years whose rules both have: the data of Node and of Debian differ in age. */
const FROM = "2024-01-01";
const TO = "2026-01-01";

async function ask(...args: readonly string[]): Promise<string> {
  const child = spawn("/usr/bin/python3", [PROGRAM, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let told = "";
  child.stdout.on("data", (part) => {
    told += part;
  });
  const [code] = await once(child, "close");
  assert.equal(code, 0);
  return told;
}

function ticksOf(cron: string, zone: string): number[] {
  const times = new CronTimes(cron, zone);
  const ticks: number[] = [];
  const end = Date.parse(TO);
  for (let at = times.next(Date.parse(FROM) - 1)!; at < end; at = times.next(at)!) {
    ticks.push(at / MINUTE_MS);
  }
  return ticks;
}

test("two years in twenty zones tick as the rules say, minute by minute", async (t) => {
  const told = await ask(FROM, TO, ZONES.join(","), ...CRONS);
  const lines = told
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.equal(lines.length, ZONES.length * CRONS.length);
  let ticks = 0;
  for (const { zone, cron, count, digest } of lines) {
    const own = ticksOf(cron, zone);
    ticks += own.length;
    const isSame = createHash("sha256").update(own.join(",")).digest("hex") === digest;
    if (isSame) continue;
    const wanted: number[] = JSON.parse(await ask("--list", FROM, TO, zone, cron));
    const at = own.findIndex((tick, i) => tick !== wanted[i]);
    const shown = (minute: number | undefined): string =>
      minute === undefined ? "none" : new Date(minute * MINUTE_MS).toISOString();
    assert.fail(
      `${cron} in ${zone}: tick ${at} of ${count} must be ${shown(wanted[at])}, is ${shown(own[at])}`,
    );
  }
  t.diagnostic(`${ticks} ticks of ${lines.length} plans`);
});
