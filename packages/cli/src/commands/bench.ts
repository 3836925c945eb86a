import type { Broker } from "@sluice/protocol";
import { type Call, type Command, EXIT, wholeOf, wordsOf } from "../command.ts";
import { count } from "../show.ts";
import { connected, TARGET, TARGET_USAGE } from "../target.ts";

const JOBS = 100_000;
const BYTES = 512;
const BATCH = 1_000;
const LANES = 10;
const CREDITS = 2_000;

export const benchCommand: Command = {
  name: "bench",
  usage: `sluice bench             adds jobs to a queue of its own, takes and acks them, and removes it

  --jobs N               how many (default ${count(JOBS)})
  --bytes N              payload of each (default ${BYTES})
${TARGET_USAGE}`,
  options: { ...TARGET, jobs: { type: "string" }, bytes: { type: "string" } },
  run: (call) => {
    wordsOf(call.words);
    const jobs = wholeOf(call, "jobs", 1) ?? JOBS;
    const bytes = wholeOf(call, "bytes", 0) ?? BYTES;
    return connected(call, ({ broker }) => bench(call, broker, jobs, bytes));
  },
};

async function bench(call: Call, broker: Broker, jobs: number, bytes: number): Promise<number> {
  const queue = `bench-${process.pid}-${Date.now().toString(36)}`;
  await broker.setQueue(queue, {
    capacity: { jobs: jobs + BATCH, bytes: 2 * (jobs + BATCH) * Math.max(bytes, 1) },
  });
  try {
    const from = performance.now();
    const done = drain(call, broker, queue, jobs);
    const adding = fill(broker, queue, jobs, bytes);
    await Promise.all([adding, done]);
    const seconds = (performance.now() - from) / 1000;
    const perSecond = Math.round(jobs / seconds);
    call.output.out(
      call.isJson
        ? JSON.stringify({ jobs, bytes, seconds, jobsPerSecond: perSecond })
        : `${count(jobs)} jobs of ${bytes} bytes added, delivered and acked in ${seconds.toFixed(2)} s: ${count(perSecond)} a second`,
    );
    return EXIT.well;
  } finally {
    await broker.deleteQueue(queue);
  }
}

const IN_FLIGHT = 8;

async function fill(broker: Broker, queue: string, jobs: number, bytes: number): Promise<void> {
  const payload = new Uint8Array(bytes).fill(120);
  let left = jobs;
  const producer = async (): Promise<void> => {
    while (left > 0) {
      const size = Math.min(BATCH, left);
      left -= size;
      const batch = Array.from({ length: size }, (_, i) => ({
        payload,
        fairnessKey: `lane-${i % LANES}`,
      }));
      await broker.add(queue, batch);
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, producer));
}

async function drain(call: Call, broker: Broker, queue: string, jobs: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let acked = 0;
  const consumer = await broker.consume(
    queue,
    { worker: "sluice bench", credits: CREDITS },
    (delivered) => {
      broker.ack(delivered.map(({ lease }) => ({ lease }))).then(() => {
        acked += delivered.length;
        consumer.addCredits(delivered.length);
        if (acked >= jobs) resolve();
      }, reject);
    },
  );
  call.stop.addEventListener("abort", () => resolve(), { once: true });
  await promise;
  await consumer.stop();
}
