// The calls of clients, each with what its answer must be.

import type { AddResult, Engine, JobSpec, Lease, NackOptions } from "@sluice/engine";
import type { Broker } from "../broker/broker.ts";
import { expectAdd, expectCancel, expectLease, type Outcome } from "../checks/answers.ts";
import { demand } from "../model/broken.ts";

const anything = (): void => {};

// Without answer the caller does not wait for it.
export function add(
  broker: Broker,
  queue: string,
  spec: JobSpec,
  answer: (outcome: Outcome<AddResult>) => void = anything,
): void {
  const expect = expectAdd(broker.ledger, queue, spec, time(broker));
  broker.request(
    "add",
    (engine, now) => engine.add(queue, spec, now),
    expect,
    (outcome) => {
      if ("value" in outcome) broker.promises.addConfirmed(outcome.value.id);
      answer(outcome);
    },
  );
}

function time(broker: Broker): number {
  return Math.max(broker.now, broker.parts.clock.read());
}

export function addGroup(broker: Broker, queue: string, specs: readonly JobSpec[]): void {
  broker.request(
    "addAll",
    (engine, now) => engine.addAll(queue, specs, now),
    anything,
    (outcome) => {
      if (!("value" in outcome)) return;
      for (const item of outcome.value) if ("id" in item) broker.promises.addConfirmed(item.id);
    },
  );
}

export function want(broker: Broker, queue: string, worker: string, slots: number): void {
  broker.request(
    "want",
    (engine, now) => {
      engine.want(queue, worker, slots, now);
      broker.demand.set(queue, worker, slots);
    },
    anything,
  );
}

export function leave(broker: Broker, queue: string, worker: string): void {
  broker.demand.set(queue, worker, 0);
  broker.request("leave", (engine, now) => engine.leaveWorker(queue, worker, now), anything);
}

// A client that comes for its jobs instead of being given them.
export function pull(
  broker: Broker,
  queue: string,
  max: number,
  receive: (lease: Lease) => void,
): void {
  let at = 0;
  broker.request(
    "lease",
    (engine, now) => {
      const leases = engine.lease(queue, max, now);
      at = broker.now;
      for (const lease of leases) broker.judgeLease(lease);
      demand(leases.length <= max, "workers", () => `${leases.length} leases for ${max} slots`);
      return leases;
    },
    anything,
    (outcome) => {
      if (!("value" in outcome)) return;
      for (const lease of outcome.value) {
        broker.promises.delivered(lease, at);
        receive(lease);
      }
    },
  );
}

// Ack, nack and give back: afterwards the worker holds the job no more, whatever the answer.
function answerLease(
  broker: Broker,
  name: string,
  { id, lease }: Lease,
  make: (engine: Engine, now: number) => void,
  answer: (outcome: Outcome<void>) => void,
): void {
  broker.promises.answered(id, lease);
  const expect = expectLease(broker.ledger, id, lease);
  broker.request(`${name} ${id}`, make, expect, answer);
}

export function ack(broker: Broker, lease: Lease, answer: () => void): void {
  answerLease(
    broker,
    "ack",
    lease,
    (engine, now) => engine.ack(lease.id, lease.lease, now),
    (outcome) => {
      // An operator may have run the job again before the answer was out.
      const isOver = "value" in outcome && !broker.ledger.jobs.has(lease.id);
      if (isOver) broker.promises.ackConfirmed(lease.id);
      answer();
    },
  );
}

export function nack(broker: Broker, lease: Lease, options: NackOptions, answer: () => void): void {
  const make = (engine: Engine, now: number): void =>
    engine.nack(lease.id, lease.lease, now, options);
  answerLease(broker, "nack", lease, make, answer);
}

export function giveBack(broker: Broker, lease: Lease, answer: () => void): void {
  const make = (engine: Engine, now: number): void => engine.giveBack(lease.id, lease.lease, now);
  answerLease(broker, "giveBack", lease, make, answer);
}

export function extend(broker: Broker, { id, lease }: Lease, ms: number): void {
  broker.request(
    `extend ${id}`,
    (engine, now) => engine.extend(id, lease, ms, now),
    expectLease(broker.ledger, id, lease),
    (outcome) => {
      if ("value" in outcome) broker.promises.extended(id, lease, outcome.value);
    },
  );
}

export function cancel(broker: Broker, id: number): void {
  const expect = expectCancel(broker.ledger, id);
  broker.request(`cancel ${id}`, (engine, now) => engine.cancel(id, now), expect);
}

// What an operator does; the facts that it gives are judged, its answer is not.
export function operate(
  broker: Broker,
  name: string,
  make: (engine: Engine, now: number) => unknown,
): void {
  broker.request(name, make, anything);
}
