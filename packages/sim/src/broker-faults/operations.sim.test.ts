// Callers who do not know whether a call came through make it again under its operation id, through
// any number of power losses: each add must have happened once, and each ack must be accepted.

import assert from "node:assert/strict";
import { test } from "node:test";
import { openBroker } from "@sluice/broker";
import { FileLog } from "@sluice/log";
import type { Added, Broker, Outcome } from "@sluice/protocol";
import { DIR, SimDisk } from "../log-faults/sim-disk.ts";
import { Random } from "../random.ts";
import { SimClock } from "../sim-clock.ts";
import { bodyOf, readBody } from "./body.ts";

const SEEDS = 15;
const LIVES = 4;
// A batch of more than the broker takes in at once is written in several parts.
const LARGE = 1_500;

interface Operation {
  readonly id: string;
  readonly make: (broker: Broker) => Promise<Outcome<unknown>[]>;
  answer?: string;
}

class Callers {
  readonly #random: Random;
  readonly #operations: Operation[] = [];
  readonly numbers: number[] = [];

  constructor(random: Random) {
    this.#random = random;
  }

  add(): void {
    const id = `op ${this.#operations.length}`;
    const count = this.#random.chance(0.05) ? LARGE : this.#random.between(1, 5);
    const first = this.numbers.length;
    for (let i = 0; i < count; i++) this.numbers.push(first + i);
    const jobs = this.numbers.slice(first).map((number) => bodyOf(number));
    const make = (broker: Broker): Promise<Outcome<Added>[]> =>
      broker.add("q", jobs, { operationId: id });
    this.#operations.push({ id, make });
  }

  ack(lease: string): void {
    const id = `op ${this.#operations.length}`;
    const make = (broker: Broker): Promise<Outcome<true>[]> =>
      broker.ack([{ lease }], { operationId: id });
    this.#operations.push({ id, make });
  }

  // Those that have no answer, and some that have.
  async call(broker: Broker, share: number): Promise<void> {
    const again = this.#operations.filter(
      ({ answer }) => answer === undefined || this.#random.chance(share),
    );
    await Promise.all(
      again.map(async (operation) => {
        const outcomes = await operation.make(broker);
        for (const { error } of outcomes) assert.equal(error, undefined, operation.id);
        const answer = JSON.stringify(outcomes);
        operation.answer ??= answer;
        assert.equal(answer, operation.answer, `${operation.id} has another answer`);
      }),
    );
  }
}

async function open(disk: SimDisk, pid: number): Promise<Broker> {
  const self = { pid, startedTicks: pid, bootId: "boot" };
  const processes = { self: () => self, isRunning: (name: { pid: number }) => name.pid === pid };
  const segmentBytes = 16_384;
  const log = await FileLog.open({ dir: DIR, disk, processes, segmentBytes, onTorn: () => {} });
  return openBroker({ log, clock: new SimClock(1_000_000), segmentBytes });
}

async function work(broker: Broker, callers: Callers, random: Random): Promise<void> {
  await broker.setQueue("q", { lease: 3_600_000 });
  for (let round = 0; round < 6; round++) {
    for (let adds = random.between(1, 4); adds > 0; adds--) callers.add();
    for (const { lease } of await broker.lease("q", { max: random.between(1, 9) })) {
      callers.ack(lease);
    }
    await callers.call(broker, 0.1);
  }
}

// Answers the disk as the next life finds it.
async function live(disk: SimDisk, pid: number, callers: Callers, random: Random) {
  const { promise: crashed, resolve } = Promise.withResolvers<SimDisk>();
  let left = random.between(5, 120);
  disk.onCall = () => {
    if (left-- === 0) resolve(disk.crash());
    return undefined;
  };
  const working = open(disk, pid).then((broker) => work(broker, callers, random));
  const over = await Promise.race([crashed, working]);
  return over ?? disk.crash();
}

// Everything that was added is there once, or was acked.
async function judge(broker: Broker, callers: Callers): Promise<void> {
  await callers.call(broker, 1);
  const seen: unknown[] = [];
  for (const state of ["waiting", "running", "finished"] as const) {
    let cursor: string | undefined;
    do {
      const page = await broker.jobs("q", { state, limit: 1000, ...(cursor && { cursor }) });
      for (const job of page.items) seen.push(readBody(job));
      cursor = page.cursor;
    } while (cursor !== undefined);
  }
  assert.deepEqual(seen.sort(), callers.numbers.toSorted());
}

test("a call that is made again after a power loss happens once, and has one answer", async () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const random = new Random(seed);
    const callers = new Callers(random);
    let disk = new SimDisk(random);
    for (let pid = 1; pid <= LIVES; pid++) disk = await live(disk, pid, callers, random);
    disk.onCall = () => undefined;
    const broker = await open(disk, LIVES + 1);
    await broker.setQueue("q", {});
    await assert.doesNotReject(judge(broker, callers), `seed ${seed}`);
    await broker.close();
  }
});
