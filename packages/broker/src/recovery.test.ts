import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryLog } from "@sluice/log";
import { openBroker } from "./broker.ts";
import { add, job, open } from "./testing/opened.ts";

/** Remembers each batch. */
class RecordedLog extends MemoryLog {
  readonly batches: Uint8Array[] = [];

  override append(facts: Uint8Array): Promise<number> {
    this.batches.push(facts.slice());
    return super.append(facts);
  }
}

async function logOf(batches: readonly Uint8Array[]): Promise<MemoryLog> {
  const log = new MemoryLog();
  for await (const _ of log.replay());
  for (const batch of batches) await log.append(batch);
  await log.close();
  return new MemoryLog({ after: log });
}

test("facts that do not fit those before them are reported as damage", async () => {
  const log = new RecordedLog();
  const { broker } = await open({}, { log });
  const queueAt = log.batches.length - 1;
  await add(broker, job("of a queue that is not there"));
  await broker.close();

  const whole = await openBroker({ log: await logOf(log.batches) });
  await whole.close();
  const holed = await logOf(log.batches.toSpliced(queueAt, 1));
  await assert.rejects(openBroker({ log: holed }), {
    code: "LOG_DAMAGED",
    message: /^the log is damaged in the batch at \d+: the fact "job" does not fit those before it/,
  });
});
