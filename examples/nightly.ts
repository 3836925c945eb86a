// A job that plans its own next run, as cron would. The key sees to it that there is only one plan,
// however often the program is started; the log sees to it that a restart does not forget it.
import { Sluice } from "sluice";

// A "night" of a tenth of a second, so that there is something to see.
const NIGHT_MS = 100;

await using sluice = await Sluice.open({ durability: "memory" });
const reports = await sluice.queue<{ run: number }>("reports");

async function plan(run: number): Promise<void> {
  const next = Math.ceil((Date.now() + 1) / NIGHT_MS) * NIGHT_MS;
  const dedupe = { key: "nightly-report", mode: "keepLast" } as const;
  await reports.add({ run }, { runAt: new Date(next), dedupe });
}

await plan(1);
// The program is started a second time: the plan that is there stays the only one.
await plan(1);

const third = Promise.withResolvers<void>();
reports.work(async ({ payload: { run } }) => {
  console.log(`report ${run}`);
  if (run === 3) third.resolve();
  else await plan(run + 1);
});
await third.promise;
