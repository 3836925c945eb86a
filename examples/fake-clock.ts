// How to test a schedule: with a clock that moves only when the test advances it. A month of
// reminders takes a few milliseconds, and every run is the same.
import assert from "node:assert/strict";
import { FakeClock, Sluice } from "sluice";

const clock = new FakeClock({ now: new Date("2030-05-01T09:00:00Z") });
await using sluice = await Sluice.open({ durability: "memory", clock });

// What is tested: reminders after a day, a week and a month, until the bill is paid.
interface Reminder {
  bill: string;
  step: number;
}
const DELAYS = ["1d", "7d", "30d"] as const;
const sent: string[] = [];
const paid = new Set<string>();
const reminders = await sluice.queue<Reminder>("reminders");

async function remind(bill: string, step: number): Promise<void> {
  const delay = DELAYS[step];
  if (delay !== undefined) await reminders.add({ bill, step }, { delay });
}

reminders.work(async ({ payload: { bill, step } }) => {
  if (paid.has(bill)) return;
  sent.push(`${new Date(clock.now()).toISOString().slice(0, 10)} ${bill} reminder ${step + 1}`);
  await remind(bill, step + 1);
});

// The test itself.
await remind("bill-1", 0);
await remind("bill-2", 0);
await clock.advance("23h");
assert.deepEqual(sent, []);

await clock.advance("1h");
assert.equal(sent.length, 2);

paid.add("bill-1");
await clock.advance("60d");
assert.equal((await reminders.stats()).waiting, 0);
for (const line of sent) console.log(line);
