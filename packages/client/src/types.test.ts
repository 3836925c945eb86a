/** The types, end to end. What must not compile is marked; the checks at run time are few. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Job, Queue, SluiceHandles, StandardSchema, Worker } from "./index.ts";

interface Mail {
  to: string;
}

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
const same = <A, B>(is: Same<A, B>): void => assert.equal(is, true);

/** Never called: it only has to compile. */
async function compiles(sluice: SluiceHandles): Promise<void> {
  const mail = await sluice.queue<Mail, number>("mail", { retry: { attempts: 5, min: "1s" } });
  same<typeof mail, Queue<Mail, number>>(true);
  const job = await mail.add({ to: "a" }, { delay: "5s", runAt: new Date() });
  same<typeof job, Job<Mail, number>>(true);
  same<Awaited<ReturnType<typeof job.finished>>, number>(true);
  // @ts-expect-error A mail has an address.
  await mail.add({ from: "a" });
  // @ts-expect-error A duration has a unit.
  await mail.add({ to: "a" }, { delay: "5" });
  // @ts-expect-error Options are known.
  await mail.add({ to: "a" }, { delayMs: 5 });
  const worker = mail.work(({ payload }, { signal }) => payload.to.length + Number(signal.aborted));
  same<typeof worker, Worker<Mail, number>>(true);
  // @ts-expect-error The result of this queue is a number.
  mail.work(() => "text");
  worker.on("finished", ({ job: { payload }, result }) => {
    same<typeof payload, Mail>(true);
    same<typeof result, number | undefined>(true);
  });
  // @ts-expect-error There is no such event.
  worker.on("finnished", () => {});
  for await (const one of mail.consume({ prefetch: 5 })) {
    same<typeof one.payload, Mail>(true);
    await one.ack(5);
    // @ts-expect-error The result of this queue is a number.
    await one.ack("text");
  }
  // @ts-expect-error A window has a limit and a time.
  await sluice.gate("g").set({ windows: [{ limit: 5 }] });
}

async function infers(sluice: SluiceHandles, schema: StandardSchema<{ n: string }, { n: number }>) {
  const queue = await sluice.queue("q", {
    schema,
    policy: { fairnessKey: ({ n }) => n.toFixed() },
    retry: (_, { payload }) => ({ delay: payload.n }),
  });
  await queue.add({ n: "1" });
  // @ts-expect-error What is added is the schema's input.
  await queue.add({ n: 1 });
  queue.work(({ payload }) => same<typeof payload, { n: number }>(true));
  const files = await sluice.queue("files", { codec: "bytes" });
  await files.add(new Uint8Array(1));
  // @ts-expect-error Bytes are bytes.
  await files.add("text");
  const typed = await sluice.queue("typed", { policy: { weight: (mail: Mail) => mail.to.length } });
  // @ts-expect-error The policy says what a payload is.
  await typed.add({ n: 1 });
}

/** Results have types without naming both generics. */
async function infersResults(
  sluice: SluiceHandles,
  schema: StandardSchema<{ n: string }, { n: number }>,
  result: StandardSchema<{ sent: boolean }>,
) {
  const queue = await sluice.queue("q", { schema, result });
  same<typeof queue, Queue<{ n: string }, { sent: boolean }, { n: number }>>(true);
  const job = await queue.add({ n: "1" });
  const answer = await job.finished();
  same<typeof answer, { sent: boolean }>(true);
  queue.work(({ payload }) => ({ sent: payload.n > 0 }));
  // @ts-expect-error The result has another shape.
  queue.work(() => ({ sent: "yes" }));
  const plain = await sluice.queue("q", { result });
  same<typeof plain, Queue<unknown, { sent: boolean }>>(true);
  // Without a schema for results, a worker's events have the type that its handler returns.
  const untyped = await sluice.queue("q", { schema });
  const worker = untyped.work(({ payload }) => payload.n);
  same<typeof worker, Worker<{ n: number }, number>>(true);
  worker.on("finished", (event) => same<typeof event.result, number | undefined>(true));
}

/** Events that are chosen by name have the fields of these alone. */
async function infersEvents(sluice: SluiceHandles) {
  for await (const event of sluice.events({ events: ["ended"] })) {
    same<typeof event.id, string>(true);
    same<typeof event.result, unknown>(true);
  }
  for await (const event of sluice.events({ queue: "q" })) {
    // @ts-expect-error Not every event is about a job.
    void event.id;
    if (event.event === "added") same<typeof event.id, string>(true);
  }
  // @ts-expect-error There is no such event.
  sluice.events({ events: ["finnished"] });
}

test("what users write has the types that they expect", () => {
  assert.equal(typeof compiles, "function");
  assert.equal(typeof infers, "function");
  assert.equal(typeof infersResults, "function");
  assert.equal(typeof infersEvents, "function");
});
