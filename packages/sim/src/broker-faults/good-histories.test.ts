// What a checker must let pass: each of these histories keeps all promises.

import { test } from "node:test";
import type { PortCall } from "./record.ts";
import { failed, LEASE_MS, leased, Story } from "./story.ts";

const CANCEL: PortCall = { call: "cancel", ids: ["a1"] };
const RETRY: PortCall = { call: "retry", ids: ["a1"] };

test("a good history passes: a crash leaves open what was not answered", () => {
  const story = new Story();
  story.add(1).deliver(1);
  story.call({ call: "ack", leases: ["a1.1"] });
  story.crash().look([]);
  story.add(2).deliver(2).ack(2).crash().look([]);
  story.call({ call: "add", queue: "q", jobs: [{ number: 3 }] });
  story.crash().look([{ id: "a3", body: 3 }]);
  story.pass(1).deliver(3).ack(3).finish();
});

test("a good history passes: a retry that a crash left open has ended the delay", () => {
  const story = new Story().add(1, { delayMs: 50 });
  story.call(RETRY);
  story.crash().look([{}]).deliver(1).ack(1).finish();
});

test("a good history passes: a retry that a crash left open has run the job to another end", () => {
  const story = new Story().add(1, { attempts: 1 }).deliver(1).ack(1);
  story.call(RETRY);
  story.crash().pass(500);
  story.look([{ state: "failed" }]).finish();
});

test("a good history passes: a lease ran out, and no one saw the death before the redrive", () => {
  const story = new Story().add(1, { attempts: 1 }).deliver(1).crash();
  story.look([{ state: "running", at: story.at + LEASE_MS }]).pass(LEASE_MS);
  story.done({ call: "redrive", queue: "q.dlq" }, { ok: 1 });
  story.deliver(1, 2).ack(1, 2).finish();
});

test("a good history passes: a job that was redriven is cancelled by its key while it runs", () => {
  const story = new Story().add(1, { attempts: 1, dedupe: { key: "k", mode: "pending" } });
  story.deliver(1).crash();
  story.look([{ state: "running", at: story.at + LEASE_MS }]).pass(LEASE_MS);
  story.done({ call: "redrive", queue: "q.dlq" }, { ok: 1 });
  story.deliver(1, 2).ok({ call: "cancelByKey", queue: "q", keys: ["k"] });
  story.done({ call: "ack", leases: ["a1.2"] }, { error: "ALREADY_FINISHED" });
  story.look([]).finish();
});

test("a good history passes: what was run again is delivered before any answer", () => {
  const ack: PortCall = { call: "ack", leases: ["a1.1"] };
  for (const [end, isCancelled] of [
    [ack, false],
    [undefined, true],
  ] as const) {
    const story = new Story().add(1).deliver(1);
    const calls = [end, CANCEL, RETRY].filter((call) => call !== undefined);
    const numbers = calls.map((call) => story.call(call));
    story.deliver(1, 2);
    for (const [i, n] of numbers.entries()) {
      const ok = calls[i] !== CANCEL || isCancelled;
      story.take({ is: "answer", n, at: story.at, items: [{ ok }] });
    }
    story.ack(1, 2).finish();
  }
});

test("a good history passes: an add that had to wait replaces the body of a later one", () => {
  const dedupe = { key: "k", mode: "replace" } as const;
  const story = new Story();
  story.call({ call: "add", queue: "q", jobs: [{ number: 1, attempts: 3, dedupe }] });
  story.add(2, { dedupe }).deliver(2, 1, { body: 1 }).ack(2).finish();
});

test("a good history passes: a lease expires before it is durable and is never delivered", () => {
  new Story().add(1, { attempts: 1 }).event(leased).event(failed).finish();
});
