// A server that says how much processor time its longest turn of the event loop took.

import { openBroker } from "@sluice/broker";
import { MemoryLog } from "@sluice/log";
import { serve } from "@sluice/server";
import { answer } from "../answer.ts";

let longestMicros = 0;
let before = 0;

// Processor time of this thread alone: the compiler and the garbage collector have their own.
function micros(): number {
  const { user, system } = process.threadCpuUsage();
  return user + system;
}

function look(): void {
  const now = micros();
  longestMicros = Math.max(longestMicros, now - before);
  before = now;
  setImmediate(look);
}

answer({
  async open() {
    const broker = await openBroker({ log: new MemoryLog() });
    await broker.setQueue("q", { capacity: { jobs: 10_000_000, bytes: 1e12 } });
    const { address } = await serve({ broker, log: "silent" });
    before = micros();
    setImmediate(look);
    return address;
  },

  // Of the turns since the last question.
  longestTurnMs() {
    const longest = longestMicros / 1000;
    longestMicros = 0;
    return longest;
  },
});
