// A test of a user's own, run by Jest.
import { FakeClock, Sluice } from "sluice";

test("a reminder is sent after a day", async () => {
  const clock = new FakeClock();
  const sluice = await Sluice.open({ durability: "memory", clock });
  const queue = await sluice.queue("reminders");
  let sent = 0;
  queue.work(async () => void sent++);
  await queue.add({}, { delay: "1d" });
  await clock.advance("1d");
  expect(sent).toBe(1);
  await sluice.close();
});
