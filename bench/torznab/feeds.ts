// Reads feeds of 10 MB in a thread of their own. Measures how long this blocks the event loop of
// the service.

import { monitorEventLoopDelay } from "node:perf_hooks";
import { XmlReader } from "@sluice/torznab";
import type { Group } from "../figure.ts";

const FEED_BYTES = 10_000_000;
const ITEMS = 5_000;
const ATTRIBUTES = 10;
const DELAY_MS_MAX = 50;

function feed(): Uint8Array {
  const attributes = Array.from(
    { length: ATTRIBUTES },
    (_, i) => `<torznab:attr name="name${i}" value="${i}"/>`,
  ).join("");
  const parts = ['<rss xmlns:torznab="http://torznab.com/schemas/2015/feed"><channel>'];
  const room = FEED_BYTES / ITEMS;
  for (let i = 0; i < ITEMS; i++) {
    const head = `<item><title>Release ${i}</title><guid>g${i}</guid><link>/get/${i}</link>`;
    const tail = `${attributes}</item>`;
    const text = "x".repeat(Math.max(0, room - head.length - tail.length - 27));
    parts.push(`${head}<description>${text}</description>${tail}`);
  }
  parts.push("</channel></rss>");
  return Buffer.from(parts.join(""));
}

interface Turns {
  stop(): { longestCpuMs: number };
}

// The processor time of this thread from one turn of its event loop to the next. What other
// processes take of the machine is not in it, so that the figure is ours.
function watchTurns(): Turns {
  let longest = 0;
  let last = process.threadCpuUsage();
  let isOver = false;
  const turn = (): void => {
    if (isOver) return;
    const { user, system } = process.threadCpuUsage(last);
    longest = Math.max(longest, user + system);
    last = process.threadCpuUsage();
    setTimeout(turn, 1);
  };
  setTimeout(turn, 1);
  return {
    stop: () => {
      isOver = true;
      return { longestCpuMs: longest / 1_000 };
    },
  };
}

async function watched(work: () => Promise<void>) {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  const turns = watchTurns();
  delay.enable();
  const startedAt = performance.now();
  await work();
  const seconds = (performance.now() - startedAt) / 1_000;
  delay.disable();
  return { ...turns.stop(), longestMs: delay.max / 1e6, seconds };
}

async function readAll(reader: XmlReader, feeds: readonly Uint8Array[]): Promise<void> {
  for (const bytes of feeds) {
    const answer = await reader.read({ bytes, contentType: undefined, base: "http://localhost/" });
    const count = answer.kind === "feed" ? answer.feed.releases.length : 0;
    if (count !== ITEMS) throw new Error(`${count} of ${ITEMS} releases were read`);
  }
}

export const feedGroups: Group[] = [
  {
    name: "feeds",
    async run(scale, report) {
      const reader = new XmlReader();
      const source = feed();
      const feeds = Array.from({ length: scale.runs }, () => new Uint8Array(source));
      // The first one starts the thread.
      await readAll(reader, [new Uint8Array(source)]);
      const read = await watched(() => readAll(reader, feeds));
      await reader.close();
      const idle = await watched(() => new Promise((over) => setTimeout(over, read.seconds * 1e3)));
      const conditions = { feedBytes: source.length, items: ITEMS, feeds: scale.runs };
      report({
        metric: "longest turn of the event loop, feeds of 10 MB",
        value: read.longestCpuMs,
        unit: "ms of processor",
        conditions,
        target: { atMost: DELAY_MS_MAX },
      });
      report({
        metric: "longest event-loop delay, feeds of 10 MB",
        value: read.longestMs,
        unit: "ms",
        conditions: { ...conditions, idleInTheSameRunMs: Number(idle.longestMs.toFixed(1)) },
        target: { atMost: DELAY_MS_MAX },
      });
      const megabytes = (source.length * scale.runs) / 1e6;
      report({
        metric: "reading feeds",
        value: megabytes / read.seconds,
        unit: "MB/s",
        conditions,
      });
    },
  },
];
