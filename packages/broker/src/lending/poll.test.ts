import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryLog } from "@sluice/log";
import { SystemClock } from "@sluice/protocol";
import { type LocalBroker, openBroker } from "../index.ts";
import type { LendAnswer, LendRequest } from "./port.ts";

const PAYLOAD = new Uint8Array(1);

/** Two partitions: all gates are at home in the first. */
async function pair(lend?: (request: LendRequest) => Promise<LendAnswer>): Promise<LocalBroker[]> {
  const clock = new SystemClock();
  const brokers: LocalBroker[] = [];
  for (const name of ["0", "1"]) {
    const homes = {
      name,
      others: name === "0" ? ["1"] : ["0"],
      homeOf: () => "0",
      lend: (home: string, request: LendRequest) =>
        name === "1" && lend !== undefined ? lend(request) : brokers[Number(home)]!.lend(request),
    };
    brokers.push(await openBroker({ log: new MemoryLog(), clock, homes }));
  }
  for (const broker of brokers) {
    await broker.setQueue("q", {});
    await broker.setGate("two", { concurrency: 2 });
  }
  return brokers;
}

async function addFive(broker: LocalBroker): Promise<void> {
  await broker.add(
    "q",
    Array.from({ length: 5 }, () => ({ payload: PAYLOAD, gates: ["two"] })),
  );
}

test("a poll that does not wait gets what the gate's home can lend now", async () => {
  const [home, borrower] = (await pair()) as [LocalBroker, LocalBroker];
  await addFive(borrower);
  const jobs = await borrower.lease("q", { max: 5 });
  assert.equal(jobs.length, 2);
  assert.deepEqual(await borrower.lease("q", { max: 5 }), []);
  await borrower.ack([{ lease: jobs[0]!.lease }]);
  assert.equal((await borrower.lease("q", { max: 5 })).length, 1);
  await Promise.all([home.close(), borrower.close()]);
});

test("polls that get nothing do not keep a home busy", async () => {
  let calls = 0;
  const [home, borrower] = (await pair((request) => {
    calls++;
    return home!.lend(request);
  })) as [LocalBroker, LocalBroker];
  await addFive(borrower);
  await borrower.lease("q", { max: 5 });
  calls = 0;
  for (let i = 0; i < 5; i++) await borrower.lease("q", { max: 5 });
  assert.ok(calls <= 20, `${calls} calls for five polls`);
  await Promise.all([home.close(), borrower.close()]);
});

test("a poll is answered soon when the gate's home is away", async () => {
  const [home, borrower] = (await pair(() => new Promise(() => {}))) as [LocalBroker, LocalBroker];
  await addFive(borrower);
  const since = performance.now();
  assert.deepEqual(await borrower.lease("q", { max: 5 }), []);
  assert.ok(performance.now() - since < 2_000);
  await Promise.all([home.close(), borrower.close()]);
});
