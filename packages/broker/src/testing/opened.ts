import { afterEach } from "node:test";
import { MemoryLog } from "@sluice/log";
import type { Added, FakeClock, LeasedJob, NewJob, Outcome, QueueOptions } from "@sluice/protocol";
import { turningClock } from "@sluice/protocol/testing";
import { type LocalBroker, openBroker } from "../broker.ts";
import type { OpenOptions } from "../options.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export const bytes = (text: string): Uint8Array => encoder.encode(text);
export const text = (from: Uint8Array): string => decoder.decode(from);

export function job(payload: string, options: Omit<NewJob, "payload"> = {}): NewJob {
  return { payload: bytes(payload), ...options };
}

export interface Opened {
  broker: LocalBroker;
  clock: FakeClock;
}

const opened: LocalBroker[] = [];

afterEach(async () => {
  for (const broker of opened.splice(0)) await broker.close();
});

/**
 * A broker with the queue "q", on a memory log and a clock that moves when told; closed when the
 * test is over.
 */
export async function open(
  queue: QueueOptions = {},
  options: Partial<OpenOptions> = {},
): Promise<Opened> {
  const clock = turningClock(5);
  const broker = await openBroker({ log: new MemoryLog(), clock, ...options });
  opened.push(broker);
  await broker.setQueue("q", queue);
  return { broker, clock };
}

/** The id of a job that was taken in. */
export function idOfAdded([outcome]: readonly Outcome<Added>[]): string {
  if (outcome?.ok === undefined) throw new Error(`refused: ${JSON.stringify(outcome)}`);
  return outcome.ok.id;
}

export async function add(broker: LocalBroker, ...jobs: NewJob[]): Promise<string> {
  return idOfAdded(await broker.add("q", jobs));
}

export async function take(broker: LocalBroker, max = 1): Promise<LeasedJob[]> {
  return broker.lease("q", { max });
}
