/**
 * A tenant that floods, one that sends a job now and then, and two providers that allow only so
 * much. The quiet tenant's jobs go first, and no throttled one holds up another.
 */
import { type Feed, pass } from "./feed.ts";

const NOISY_EVERY_MS = 50;
const NOISY_JOBS = 10;
const NOISY_WAITING_MAX = 2_000;
const QUIET_EVERY_MS = 700;
const WORK_MS = 8;

export const feedMail: Feed = async (sluice, every) => {
  const mail = await sluice.queue<{ to: string }>("mail");
  await sluice.gate("provider:fast").set({ rate: 40, burst: 10 });
  await sluice.gate("provider:slow").set({ rate: 5, burst: 5 });
  mail.work(() => pass(WORK_MS), { concurrency: 4 });
  let sent = 0;
  const add = (tenant: string, count: number): Promise<unknown> =>
    mail.addBulk(
      Array.from({ length: count }, () => ({
        payload: { to: `${++sent}@${tenant}.example` },
        fairnessKey: tenant,
        gates: [sent % 4 === 0 ? "provider:slow" : "provider:fast"],
      })),
    );
  every(NOISY_EVERY_MS, async () => {
    const { waiting } = await mail.stats();
    if (waiting < NOISY_WAITING_MAX) await add("noisy", NOISY_JOBS);
  });
  every(QUIET_EVERY_MS, () => add("quiet", 1));
};
