// The program of a restart: a new process opens a directory, and the first job goes out. Sends what
// it took to its parent.
//
//   node --expose-gc bench/recovery/restart.ts <directory> <queue>

import { Sluice } from "sluice";
import type { Restart } from "./waiting.ts";

const [dir, name] = process.argv.slice(2);
// If the parent is gone, no process reads the figures, so this one exits.
const leave = (): never => process.exit(1);
process.on("disconnect", leave);

const from = performance.now();
const sluice = await Sluice.open({ dir });
const openMs = performance.now() - from;
const queue = await sluice.queue(name!, { codec: "bytes" });
const { promise, resolve } = Promise.withResolvers<number>();
// Nothing is finished, so that the next restart finds the same jobs.
const worker = queue.work((_, { signal }) => {
  resolve(performance.now() - from);
  return new Promise((_, reject) => signal.addEventListener("abort", reject));
});
const firstMs = await promise;
const { waiting, running } = await queue.stats();
globalThis.gc?.();
const rssBytes = process.memoryUsage.rss();
const peakRssBytes = process.resourceUsage().maxRSS * 1024;
await worker.close({ timeout: 0 });
await sluice.close();

const restart: Restart = { openMs, firstMs, jobs: waiting + running, rssBytes, peakRssBytes };
process.off("disconnect", leave);
process.send!(restart, () => process.disconnect());
