import type { TestContext } from "node:test";
import { FakeClock, type Queue, type QueueOptions, Sluice } from "sluice";

export interface OpenSluice {
  sluice: Sluice;
  clock: FakeClock;
}

export interface OpenMail<Payload, Result> extends OpenSluice {
  mail: Queue<Payload, Result>;
}

/** A Sluice in memory, on a fake clock; it is closed when the test ends. */
export async function openSluice(t: TestContext): Promise<OpenSluice> {
  const clock = new FakeClock();
  const sluice = await Sluice.open({ durability: "memory", clock });
  t.after(() => sluice.close());
  return { sluice, clock };
}

/** The same, with the queue "mail". */
export async function openMail<Payload = unknown, Result = unknown>(
  t: TestContext,
  options: QueueOptions<Payload> = {},
): Promise<OpenMail<Payload, Result>> {
  const opened = await openSluice(t);
  return { ...opened, mail: await opened.sluice.queue<Payload, Result>("mail", options) };
}
