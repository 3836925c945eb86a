import { setTimeout } from "node:timers/promises";
import type { Broker } from "@sluice/protocol";
import { type Call, type Command, durationOf, EXIT, wordsOf } from "../command.ts";
import { connected, TARGET, TARGET_USAGE } from "../target.ts";
import { drawTop } from "../top/draw.ts";
import { TopKeys } from "../top/keys.ts";
import { readTop, type TopView } from "../top/view.ts";

const EVERY_MS = 1000;
const EVERY_MS_MIN = 100;
const ENTER = "\x1b[?1049h\x1b[?25l";
const LEAVE = "\x1b[?25h\x1b[?1049l";
const HOME = "\x1b[H\x1b[J";

export const topCommand: Command = {
  name: "top",
  usage: `sluice top               refreshes every second until q or Ctrl-C

  s                      the next order: busy, waiting, out, dead, name
  arrows, j, k           choose a queue: its lanes alone are shown; Escape lets go

  --every TIME           how often (default 1s)
  --once                 once, without taking over the screen
${TARGET_USAGE}`,
  options: { ...TARGET, every: { type: "string" }, once: { type: "boolean" } },
  run: async (call) => {
    wordsOf(call.words);
    const everyMs = durationOf(call, "every", EVERY_MS_MIN) ?? EVERY_MS;
    return connected(call, ({ broker }) => watch(call, broker, everyMs));
  },
};

async function watch(call: Call, broker: Broker, everyMs: number): Promise<number> {
  const { output, isJson } = call;
  const isLive = output.progress.isTTY === true && call.values.once !== true && !isJson;
  let before: TopView | undefined;
  const keys = new TopKeys(isLive ? call.input : undefined, call.stop);
  if (isLive) output.progress.write(ENTER);
  try {
    for (;;) {
      const view = await readTop(broker, before, keys.choice);
      keys.show(view.queues.map(({ name }) => name));
      // A terminal may have been made wider meanwhile.
      const width = output.progress.columns ?? 100;
      if (isJson) output.out(JSON.stringify(view));
      else if (isLive) output.progress.write(HOME + drawTop(view, width));
      else output.out(drawTop(view, width));
      before = view;
      // Rates need two looks.
      if (call.values.once === true || (!isLive && !isJson)) return EXIT.well;
      await pause(keys, everyMs);
      if (keys.signal.aborted) return EXIT.well;
    }
  } finally {
    keys[Symbol.dispose]();
    if (isLive) output.progress.write(LEAVE);
  }
}

/** Until the next look, a key that changes what is shown, or the end. */
async function pause(keys: TopKeys, ms: number): Promise<void> {
  const over = new AbortController();
  const signal = AbortSignal.any([keys.signal, over.signal]);
  const timer = setTimeout(ms, undefined, { signal }).catch(() => undefined);
  await Promise.race([timer, keys.changed()]);
  over.abort();
}
