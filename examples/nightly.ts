// A report each night at three, in the local time of Berlin, that survives a failing night and the
// change to summer time. A fake clock lets four nights pass in a moment.
import { FakeClock, Sluice } from "sluice";

const clock = new FakeClock({ now: new Date("2026-03-27T12:00:00Z") });
await using sluice = await Sluice.open({ durability: "memory", clock });
const reports = await sluice.queue<{ kind: string }>("reports");

// Called at each start of the program: the schedule that is there stays, with what it has done.
const nightly = await sluice.schedule("nightly", {
  queue: "reports",
  cron: "0 3 * * *",
  timezone: "Europe/Berlin",
  payload: { kind: "sales" },
  options: { attempts: 1 },
});

reports.work(({ payload, headers }) => {
  const tick = headers["sluice-tick"]!;
  if (tick.startsWith("2026-03-28")) throw new Error("the database is away");
  console.log(`${payload.kind} report of ${tick}`);
});

for (let night = 0; night < 4; night++) {
  await clock.advance("1d");
  const { lastRun } = await nightly.info();
  if (lastRun?.state === "dead") console.log(`a night failed: ${lastRun.error}`);
}
// The failed night is a dead letter: look at it, or run it again.
const { added, next } = await nightly.info();
console.log(`${added} nights, next ${new Date(next[0]!).toISOString()}`);
