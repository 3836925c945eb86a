// The demonstration: twenty seconds of the engine at work, live in the terminal. Without a terminal
// it prints a few snapshots instead and ends after three seconds.

import { Drawing, type Look } from "./draw.ts";
import { Scene } from "./scene.ts";

const LIVE_MS = 20_000;
const FRAME_MS = 100;
const SNAPSHOTS = 3;
const SNAPSHOT_MS = 900;
const HIDE_CURSOR = "\x1b[?25l";
const SHOW_CURSOR = "\x1b[?25h";
const CLEAR_REST = "\x1b[K";
const CLEAR_BELOW = "\x1b[J";

const { stdout } = process;
const isLive = stdout.isTTY === true;
const scene = new Scene();
const drawing = new Drawing(look);

function look(): Look {
  const { NO_COLOR } = process.env;
  const hasColor = isLive && (NO_COLOR === undefined || NO_COLOR === "");
  return { columns: Math.max(50, isLive ? stdout.columns : 80), hasColor };
}

function end(): void {
  scene.stop();
  if (isLive) stdout.write(`${SHOW_CURSOR}\n`);
  const [, quiet, throttled] = scene.view().tenants;
  console.log(
    `The quiet tenant never waited more than ${quiet?.waitedMaxMs} ms beside 10,000 jobs of ` +
      `another,\nand the provider got ${throttled?.done} jobs and not one too many.`,
  );
  process.exit(0);
}

function live(): void {
  let height = 0;
  const draw = (): void => {
    const lines = drawing.lines(scene.view());
    const up = height === 0 ? "" : `\x1b[${height}A`;
    height = lines.length;
    stdout.write(`${up}\r${lines.map((line) => `${line}${CLEAR_REST}\n`).join("")}${CLEAR_BELOW}`);
  };
  stdout.write(HIDE_CURSOR);
  // Whatever ends the program, the terminal gets its cursor back.
  process.on("exit", () => stdout.write(SHOW_CURSOR));
  draw();
  setInterval(draw, FRAME_MS);
  setTimeout(end, LIVE_MS);
}

function snapshots(): void {
  let shown = 0;
  const timer = setInterval(() => {
    console.log(`${drawing.lines(scene.view()).join("\n")}\n`);
    shown += 1;
    if (shown < SNAPSHOTS) return;
    clearInterval(timer);
    end();
  }, SNAPSHOT_MS);
}

for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, end);
scene.start();
if (isLive) live();
else snapshots();
