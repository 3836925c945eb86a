import type { BrokerEvent, JobInfo, NewJob, QueueOptions } from "@sluice/protocol";
import type { LocalBroker } from "../broker.ts";
import { add, job, type Opened, open } from "./opened.ts";

/** A broker whose queue "q" has a script, and templates to fall back on. */
export function openScript(lua: string, queue: QueueOptions = {}): Promise<Opened> {
  return open({ ...queue, policy: { fairnessKey: "fallback", ...queue.policy, lua } });
}

/** Adds one job with these headers, and answers what became of it. */
export async function addOne(
  broker: LocalBroker,
  headers: Record<string, string> = {},
  options: Omit<NewJob, "payload"> = {},
): Promise<JobInfo> {
  return broker.job(await add(broker, job("x", { headers, ...options })));
}

/** The next event of a kind; ask before it happens. */
export async function nextEvent<E extends BrokerEvent["event"]>(
  broker: LocalBroker,
  event: E,
): Promise<BrokerEvent & { event: E }> {
  for await (const told of broker.events({ events: [event] })) {
    return told as BrokerEvent & { event: E };
  }
  throw new Error(`the broker closed before it told of ${event}`);
}
