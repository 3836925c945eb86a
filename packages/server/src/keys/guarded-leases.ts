/** Deliveries to callers that may consume. Jobs for a caller that may no longer are given back. */
import type { ConsumeOptions, Consumer, Deliver, LeasedJob, LeaseOptions } from "@sluice/protocol";
import { type Access, whileAllowed } from "./permit.ts";

export async function guardedLease(
  access: Access,
  queue: string,
  options: LeaseOptions,
): Promise<LeasedJob[]> {
  const { broker, permit } = access;
  permit.enter("consume", queue);
  const jobs = await whileAllowed(permit, "consume", queue, options, (watched) =>
    broker.lease(queue, watched),
  );
  if (permit.still("consume", queue)) return jobs;
  await giveBack(access, jobs);
  permit.check("consume", queue);
  return [];
}

export async function guardedConsumer(
  access: Access,
  queue: string,
  options: ConsumeOptions,
  deliver: Deliver,
): Promise<Consumer> {
  const { broker, permit } = access;
  permit.enter("consume", queue);
  const mayStill = (): boolean => permit.still("consume", queue);
  const consumer = broker.consume(queue, options, (jobs) => {
    if (mayStill()) return deliver(jobs);
    void giveBack(access, jobs);
    void consumer.then((it) => it.stop()).catch(() => {});
  });
  const leave = permit.principal.watch?.(() => {
    if (!mayStill()) void consumer.then((it) => it.stop());
  });
  const joined = await consumer.catch((error) => {
    leave?.();
    throw error;
  });
  void joined.over.then(leave);
  const addCredits = (count: number): void => {
    if (mayStill()) joined.addCredits(count);
    else void joined.stop();
  };
  return { addCredits, stop: () => joined.stop(), over: joined.over };
}

/** The right was lost while they were on their way. */
async function giveBack({ broker }: Access, jobs: readonly LeasedJob[]): Promise<void> {
  await broker.giveBack(jobs.map(({ lease }) => lease)).catch(() => {});
}
