// Two tenants share one queue: the one that floods it does not keep the other waiting.
import { Sluice } from "sluice";

const sluice = await Sluice.open({ dir: "./data" }); // on Node 24: `await using sluice = ...`
const mail = await sluice.queue<{ to: string }>("mail", { retry: { attempts: 5 } });

const flood = ["ann", "ben", "cleo", "dan"].map((name) => `${name}@big.example`);
const jobs = await Promise.all([
  ...flood.map((to) => mail.add({ to }, { fairnessKey: "big" })),
  mail.add({ to: "eve@small.example" }, { fairnessKey: "small" }),
]);

mail.work(async (job) => console.log(`sent to ${job.payload.to}`));
await Promise.all(jobs.map((job) => job.finished()));
await sluice.close();
