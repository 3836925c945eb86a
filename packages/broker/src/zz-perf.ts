import { rmSync } from "node:fs";
import { openBroker } from "@sluice/broker";
import { FileLog } from "@sluice/log";

const dir = "/tmp/perf-data";
rmSync(dir, { recursive: true, force: true });
const durability = (process.argv[2] ?? "fsync") as "fsync" | "os";
const b = await openBroker({ log: await FileLog.open({ dir, durability }), reserve: true });
await b.setQueue("q", { results: { jobs: 0, ms: 0 }, capacity: { jobs: 2_000_000 } });
await b.setGate("g", { rate: 1e9 });
const payload = new Uint8Array(512).fill(65);
const N = Number(process.argv[3] ?? 300_000),
  LANES = Number(process.argv[4] ?? 10);
const keys = Array.from({ length: LANES }, (_, i) => `tenant-${i}`);
let acked = 0;
const done = Promise.withResolvers<void>();
const consumer = await b.consume("q", { worker: "w", credits: 4000 }, (jobs) => {
  void b.ack(jobs.map(({ lease }) => ({ lease }))).then((r) => {
    acked += r.length;
    consumer.addCredits(r.length);
    if (acked >= N) done.resolve();
  });
});
const t0 = performance.now();
const c0 = process.cpuUsage();
let made = 0;
const inflight: Promise<unknown>[] = [];
async function produce() {
  while (made < N) {
    const jobs = [];
    for (let i = 0; i < 1000; i++, made++)
      jobs.push({ payload, fairnessKey: keys[made % LANES]!, gates: ["g"] });
    await b.add("q", jobs);
  }
}
await Promise.all([produce(), produce(), produce(), produce()]);
await done.promise;
const ms = performance.now() - t0;
const c = process.cpuUsage(c0);
console.log(
  `${durability} ${N} jobs ${ms.toFixed(0)} ms ${(N / ms).toFixed(1)} k/s cpu ${((c.user + c.system) / N).toFixed(2)} us/job`,
  b.sizes(),
  (process.memoryUsage().rss / 1e6) | 0,
);
await b.close();
