import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryLog } from "@sluice/log";
import type { QueueSettings } from "@sluice/protocol";
import { openBroker } from "./broker.ts";
import { ByteReader } from "./codec/byte-reader.ts";
import { ByteWriter } from "./codec/byte-writer.ts";
import { decodeFact, encodeFact } from "./codec/facts.ts";
import { readSampleBody, writeSampleBody } from "./codec/sample-facts.ts";
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

/** The batch as a version wrote it that had neither the option `fullRetry` nor `deliveries`. */
function olderBatch(batch: Uint8Array): Uint8Array {
  const reader = new ByteReader(batch);
  const writer = new ByteWriter(() => new Uint8Array(64 * 1024));
  while (!reader.isAtEnd) {
    const fact = decodeFact(reader, readSampleBody);
    if (fact.fact === "queue") {
      Reflect.deleteProperty(fact.config, "fullRetryMs");
      Reflect.deleteProperty(fact.config.retry, "deliveries");
    }
    encodeFact(writer, fact, writeSampleBody);
  }
  return writer.bytes.slice(0, writer.at);
}

test("options that are newer than a stored queue have their defaults", async () => {
  const log = new RecordedLog();
  const { broker } = await open({ retry: { attempts: 9 }, lease: "7s" }, { log });
  await broker.close();
  const configOf = async (batches: readonly Uint8Array[]): Promise<QueueSettings> => {
    const reopened = await openBroker({ log: await logOf(batches) });
    const { config } = await reopened.queue("q");
    await reopened.close();
    return config;
  };
  const config = await configOf(log.batches.map(olderBatch));
  assert.deepEqual(config, await configOf(log.batches));
  assert.deepEqual([config.retry.attempts, config.retry.deliveries], [9, 250]);
  assert.deepEqual([config.lease, config.fullRetry], [7_000, 10_000]);
});
