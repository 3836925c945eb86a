/**
 * Traffic to look at: a tenant that floods, one that sends a job now and then, and two providers
 * that allow only so much. The quiet tenant's jobs go first, and no throttled one holds up another.
 */

import { SluiceHandles } from "@sluice/client";
import { type Broker, SystemClock } from "@sluice/protocol";

const NOISY_EVERY_MS = 50;
const NOISY_JOBS = 10;
const NOISY_WAITING_MAX = 2_000;
const QUIET_EVERY_MS = 700;
const WORK_MS = 8;

export interface Demo extends AsyncDisposable {
  readonly text: string;
}

export async function feed(broker: Broker): Promise<Demo> {
  const sluice = new SluiceHandles({ port: unclosed(broker), clock: new SystemClock() });
  const mail = await sluice.queue<{ to: string }>("mail");
  await sluice.gate("provider:fast").set({ rate: 40, burst: 10 });
  await sluice.gate("provider:slow").set({ rate: 5, burst: 5 });
  mail.work(() => new Promise((resolve) => setTimeout(resolve, WORK_MS)), { concurrency: 4 });
  let sent = 0;
  const add = (tenant: string, count: number): void => {
    const jobs = Array.from({ length: count }, () => ({
      payload: { to: `${++sent}@${tenant}.example` },
      fairnessKey: tenant,
      gates: [sent % 4 === 0 ? "provider:slow" : "provider:fast"],
    }));
    // A queue that is full, or a server that stops, is no reason to end the show with an error.
    mail.addBulk(jobs).catch(() => undefined);
  };
  const noisy = setInterval(async () => {
    const stats = await mail.stats().catch(() => undefined);
    if (stats !== undefined && stats.waiting < NOISY_WAITING_MAX) add("noisy", NOISY_JOBS);
  }, NOISY_EVERY_MS);
  const quiet = setInterval(() => add("quiet", 1), QUIET_EVERY_MS);
  return {
    text: `The demo feeds the queue mail: "noisy" floods it, "quiet" adds one job now and then, both behind
provider:fast (40 a second) and provider:slow (5 a second). Watch it with: sluice top`,
    [Symbol.asyncDispose]: async () => {
      clearInterval(noisy);
      clearInterval(quiet);
      await sluice.close({ timeout: 1_000 });
    },
  };
}

/** The server closes its broker itself. */
function unclosed(broker: Broker): Broker {
  return new Proxy(broker, {
    get: (target, name) => {
      if (name === "close") return async () => {};
      const value = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
