import type { JobFields } from "../job.ts";
import { type ConformanceCase, cases, onQueue } from "./case.ts";
import { accepted, bytes, equal, names, refused, rejects } from "./check.ts";

const MIB = 1024 * 1024;

/** An option that can never be, and the field that the refusal must name. */
const BAD: readonly (readonly [string, JobFields, string])[] = [
  ["an empty path as its key", { fairnessKey: [] }, "fairnessKey"],
  ["a path of 5 levels", { fairnessKey: ["a", "b", "c", "d", "e"] }, "fairnessKey"],
  ["a key of 1,025 bytes", { fairnessKey: "k".repeat(1025) }, "fairnessKey"],
  ["a key of 1,026 bytes in 513 letters", { fairnessKey: "ü".repeat(513) }, "fairnessKey"],
  ["a weight of 0", { weight: 0 }, "weight"],
  ["half a weight", { weight: 1.5 }, "weight"],
  ["a tier that does not exist", { priority: 4 }, "priority"],
  ["the name of no tier", { priority: "urgent" }, "priority"],
  ["17 gates", { gates: Array.from({ length: 17 }, (_, i) => `g${i}`) }, "gates"],
  ["a gate with a space in its name", { gates: ["a b"] }, "gates"],
  ["a gate of 256 bytes", { gates: ["g".repeat(256)] }, "gates"],
  ["a cost of 0", { cost: 0 }, "cost"],
  ["a delay below 0", { delayMs: -1 }, "delay"],
  ["a delay that is no number", { delayMs: Number.NaN }, "delay"],
  ["a delay and a time to run at", { delayMs: 1, runAt: 1 }, "runAt"],
  ["a time to live and a deadline", { ttlMs: 1, deadline: 1 }, "deadline"],
  ["a maxWait below 0", { maxWaitMs: -1 }, "maxWait"],
  ["an empty dedupe key", { dedupe: { key: "", mode: "pending" } }, "dedupe"],
  ["a dedupe key of 1,025 bytes", { dedupe: { key: "k".repeat(1025), mode: "replace" } }, "dedupe"],
  ["a window without its length", { dedupe: { key: "k", mode: "window" } }, "dedupe"],
  ["a debounce without a delay", { dedupe: { key: "k", mode: "debounce" } }, "delay"],
  ["a group with a space in its name", { group: "a b" }, "group"],
  ["0 attempts", { attempts: 0 }, "attempts"],
  ["a jitter above 1", { backoff: { jitter: 2 } }, "backoff"],
  ["a lease of 0 ms", { leaseMs: 0 }, "lease"],
  ["65 headers", { headers: headersOf(65) }, "headers"],
  ["headers of more than 8 KiB in all", { headers: { a: "x".repeat(8192) } }, "headers"],
  ["a header that is no text", { headers: { a: 1 } as never }, "headers"],
];

const refusals = cases(
  "limits of a job",
  Object.fromEntries(
    BAD.map(([what, options, field]) => [
      `a job with ${what} is refused, and the refusal names the field`,
      onQueue(async (scene) => {
        const outcome = await scene.tryAdd("x", options);
        names(refused(outcome, "INVALID", what), field, what);
        equal((await scene.broker.queue("q")).stats.added, 0, "the jobs that were added");
      }),
    ]),
  ),
);

/** Options at their very limit. */
const GOOD: readonly (readonly [string, JobFields])[] = [
  ["a key of 1,024 bytes", { fairnessKey: "k".repeat(1024) }],
  ["a path of 4 levels", { fairnessKey: ["a", "b", "c", "d"] }],
  ["16 gates", { gates: Array.from({ length: 16 }, (_, i) => `g${i}`) }],
  ["a gate of 255 bytes", { gates: ["g".repeat(255)] }],
  ["a dedupe key of 1,024 bytes", { dedupe: { key: "k".repeat(1024), mode: "pending" } }],
  ["64 headers", { headers: headersOf(64) }],
  ["headers of 8 KiB in all", { headers: { a: "x".repeat(8191) } }],
];

const acceptances = cases(
  "limits of a job",
  Object.fromEntries(
    GOOD.map(([what, options]) => [
      `a job with ${what} is accepted and delivered`,
      onQueue(async (scene) => {
        const id = await scene.add("x", options);
        const job = await scene.takeOne();
        equal(job.id, id, "the delivered job");
        equal(job.fairnessKey, options.fairnessKey ?? job.fairnessKey, "its key");
        equal(job.headers, options.headers ?? {}, "its headers");
      }),
    ]),
  ),
);

const sizes = cases("limits of a call", {
  "10,000 jobs in one call are accepted": onQueue(async (scene) => {
    const jobs = Array.from({ length: 10_000 }, (_, i) => ({ payload: bytes(`${i}`) }));
    const outcomes = await scene.broker.add("q", jobs);
    equal(outcomes.length, 10_000, "the number of answers");
    for (const [i, outcome] of outcomes.entries()) accepted(outcome, `job ${i}`);
    equal((await scene.broker.queue("q")).stats.waiting, 10_000, "the jobs that wait");
  }),

  "10,001 jobs in one call are refused, all of them": onQueue(async (scene) => {
    const jobs = Array.from({ length: 10_001 }, () => ({ payload: bytes("x") }));
    await rejects(scene.broker.add("q", jobs), "INVALID", "the add");
    equal((await scene.broker.queue("q")).stats.added, 0, "the jobs that were added");
  }),

  "a payload above 1 MiB is refused, and the rest of its batch is not": onQueue(async (scene) => {
    const payload = new Uint8Array(MIB + 1);
    const outcomes = await scene.broker.add("q", [{ payload }, { payload: bytes("small") }]);
    refused(outcomes[0], "PAYLOAD_TOO_LARGE", "a payload of 1 MiB and one byte");
    accepted(outcomes[1], "the small payload after it");
    await scene.expect(["small"], "the jobs that there are");
  }),

  "a payload that is no bytes is refused": onQueue(async (scene) => {
    const [outcome] = await scene.broker.add("q", [{ payload: "text" as never }]);
    names(refused(outcome, "INVALID", "a payload of text"), "payload", "a payload of text");
  }),

  "a queue's name may have 255 bytes and no more": async (scene) => {
    const name = "q".repeat(255);
    await scene.queue({ dlq: "dead" }, name);
    await scene.add("x", {}, name);
    await scene.expect(["x"], "what the queue with the long name holds", name);
    await rejects(scene.queue({ dlq: "dead" }, `${name}q`), "INVALID", "a name of 256 bytes");
  },

  "a queue's name has letters, digits and ._:- and nothing else": async (scene) => {
    await scene.queue({}, "Orders.v2:eu-west_1");
    for (const name of ["", "a b", "a/b", "ä", "a*"]) {
      await rejects(scene.queue({}, name), "INVALID", `the name ${JSON.stringify(name)}`);
    }
  },
});

export const limits: readonly ConformanceCase[] = [...refusals, ...acceptances, ...sizes];

function headersOf(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`h${i}`, `${i}`]));
}
