// A checker that cannot see is no checker: each of these histories breaks one promise.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { BrokerEvent } from "@sluice/protocol";
import { Broken } from "../demand.ts";
import type { PortCall } from "./record.ts";
import { failed, LEASE_MS, type Look, leased, returned, Story } from "./story.ts";

const entriesOf = (a: number, b: number) => [
  { key: "a", value: a },
  { key: "b", value: b },
];
const write = (n: number): PortCall => ({
  call: "storeWrite",
  store: "s",
  entries: entriesOf(n, n),
});
const store = (a: number, b: number): Partial<Look> => ({
  stores: [{ store: "s", entries: entriesOf(a, b) }],
});
const ended = (id: string, state: "finished" | "cancelled"): BrokerEvent => {
  return { event: "ended", id, queue: "q", state, at: 1_000 };
};
const KEY = { dedupe: { key: "k", mode: "pending" } } as const;
const IN_GROUP = { group: "g1" };
const CANCEL: PortCall = { call: "cancel", ids: ["a1"] };
const RETRY: PortCall = { call: "retry", ids: ["a1"] };
const COOL: PortCall = { call: "cooldown", gate: "g", ms: 100 };
const PURGE: PortCall = { call: "purge", queue: "q" };
const BUCKET = { rate: 1, burst: 1 };

// By the rule that must be named.
const BAD: readonly [rule: string, what: string, tell: (story: Story) => unknown][] = [
  ["no confirmed add lost", "a job is gone", (s) => s.add(1).crash().look()],
  ["no confirmed add lost", "a delivered one is", (s) => s.add(1).deliver(1).crash().look()],
  ["drain", "a job is never done", (s) => s.add(1).finish()],
  ["bodies", "a payload is broken", (s) => s.add(1).deliver(1, 1, { body: "a broken payload" })],
  ["bodies", "a job has another's", (s) => s.add(1).add(2).deliver(1, 1, { body: 2 })],
  ["bodies", "a look shows another's", (s) => s.add(1).add(2).crash().seen({ body: 2 })],
  ["no job after its end", "it is delivered", (s) => s.add(1).deliver(1).ack(1).deliver(1, 2)],
  ["no job after its end", "it is listed", (s) => s.add(1).deliver(1).ack(1).crash().seen({})],
  ["no job after its end", "it was cancelled", (s) => s.add(1).ok(CANCEL).deliver(1)],
  ["no job after its end", "it was purged", (s) => s.add(1).ok(PURGE).pass(1).deliver(1)],
  [
    "no job after its end",
    "its queue was deleted",
    (s) => s.add(1).ok({ call: "deleteQueue", queue: "q" }).deliver(1),
  ],
  ["one live lease", "two have it", (s) => s.add(1).deliver(1).pass(50).deliver(1, 2)],
  [
    "one live lease",
    "an extended one is given away",
    (s) => extend(s.add(1).deliver(1), 1, 500).pass(200).deliver(1, 2, { attempt: 1 }),
  ],
  ["live leases survive", "it waits", (s) => s.add(1).deliver(1).crash().seen({})],
  [
    "live leases hold",
    "an ack is refused",
    (s) => {
      const n = s
        .add(1)
        .deliver(1)
        .call({ call: "ack", leases: ["a1.1"] });
      s.take({ is: "answer", n, at: s.at, items: [{ error: "LEASE_LOST" }] });
    },
  ],
  ["old leases are refused", "an ack counts twice", (s) => s.add(1).deliver(1).ack(1).ack(1)],
  [
    "old leases are refused",
    "an overtaken one is accepted",
    (s) => s.add(1).deliver(1).pass(200).deliver(1, 2, { attempt: 1 }).ack(1, 1),
  ],
  ["tokens rise", "one comes again", (s) => s.add(1).deliver(1).pass(200).deliver(1, 1)],
  ["attempts", "an expiry is not counted", (s) => s.add(1).deliver(1).pass(200).deliver(1, 2)],
  [
    "attempts",
    "one too many",
    (s) => s.add(1, { attempts: 1 }).deliver(1).pass(200).deliver(1, 2, { attempt: 1 }),
  ],
  ["attempts", "a first one fails", (s) => s.add(1).deliver(1, 1, { attempt: 1 })],
  ["never early", "a delay is cut", (s) => s.add(1, { delayMs: 50 }).pass(49).deliver(1)],
  ["never early", "a runAt is", (s) => s.add(1, { runAt: 1_050 }).pass(49).deliver(1)],
  [
    "never early",
    "the wall was set back before its time came",
    (s) => s.add(1, { runAt: 1_050 }).pass(10).wall(-100).pass(50).deliver(1),
  ],
  ["ids", "one is given twice", (s) => s.add(1).add(2, {}, { id: "a1" })],
  ["ids", "a later one is lower", (s) => s.add(2).add(1)],
  ["dedupe", "a pending key makes a second job", (s) => s.add(1, KEY).crash().seen({}).add(2, KEY)],
  [
    "dedupe",
    "a duplicate of a job without the key",
    (s) => s.add(1).add(2, KEY, { id: "a1", duplicate: true }),
  ],
  ["groups", "one ends twice", (s) => groupEnd(groupEnd(s.add(1, IN_GROUP).deliver(1).ack(1)))],
  ["groups", "one ends before its member", (s) => groupEnd(s.add(1, IN_GROUP))],
  ["groups", "one is lost", (s) => s.add(1, IN_GROUP).crash().seen({})],
  ["gates: rate", "more than the burst", (s) => s.gate(BUCKET).passGate(1).passGate(2)],
  [
    "gates: rate",
    "a restart fills the bucket",
    (s) => {
      const full = { key: "g", config: BUCKET, tokens: 1, windows: [], inFlight: 1 };
      s.gate(BUCKET).passGate(1).crash();
      s.look([{ state: "running", at: s.at + LEASE_MS }], { gates: [full] });
    },
  ],
  [
    "gates: window",
    "one more than the limit",
    (s) =>
      s
        .gate({ windows: [{ limit: 1, per: 1_000 }] })
        .passGate(1)
        .pass(999)
        .passGate(2),
  ],
  ["gates: concurrency", "two at once", (s) => s.gate({ concurrency: 1 }).passGate(1).passGate(2)],
  [
    "gates: interval",
    "too soon",
    (s) =>
      s
        .gate({ interval: { every: 50, from: "start" } })
        .passGate(1)
        .pass(49)
        .passGate(2),
  ],
  ["gates: cooldown", "one passes", (s) => s.ok(COOL).pass(50).passGate(1)],
  ["gates: cooldown", "a restart ends it", (s) => s.ok(COOL).crash().look()],
  ["gates: limits", "a restart forgets them", (s) => s.gate({ concurrency: 1 }).crash().look()],
  [
    "first in, first out",
    "two change places",
    (s) => s.add(1).add(2).deliver(2).pass(1).deliver(1),
  ],
  [
    "stores",
    "a confirmed write is lost",
    (s) => s.ok(write(1)).ok(write(2)).crash().look([], store(1, 1)),
  ],
  [
    "stores",
    "a write is there by half",
    (s) => {
      s.ok(write(1)).call(write(2));
      s.crash().look([], store(2, 1));
    },
  ],
  [
    "counters",
    "an ack is not counted",
    (s) => {
      s.add(1).deliver(1).ack(1).crash();
      s.look([], { stats: { added: 1, dispatched: 1 } });
    },
  ],
  [
    "counters",
    "a list is longer",
    (s) => {
      s.add(1).crash();
      s.look([{}], { stats: { waiting: 0, added: 1 } });
    },
  ],
  ["time", "it goes back", (s) => s.add(1).crash().pass(-500).seen({})],
  [
    "time",
    "it leaps",
    (s) =>
      s
        .add(1)
        .crash()
        .look([{}], { at: s.at + 10 }),
  ],
  ["nothing ends by itself", "an event says so", (s) => s.add(1).event(ended("a1", "cancelled"))],
  [
    "nothing ends by itself",
    "a lease that was given back loses no attempt",
    (s) => s.add(1, { attempts: 1 }).event(leased).event(returned).event(failed),
  ],
  [
    "nothing ends by itself",
    "one lease that no one saw loses one attempt",
    (s) => s.add(1, { attempts: 2 }).event(leased).event(failed),
  ],
  ["nothing ends by itself", "a look does", (s) => s.add(1).crash().seen({ state: "cancelled" })],
  [
    "nothing ends by itself",
    "a cancel says so of a job that waits, and a retry is under way",
    (s) => {
      const cancel = s.add(1).call(CANCEL);
      s.call(RETRY);
      s.deliver(1).take({ is: "answer", n: cancel, at: s.at, items: [{ ok: false }] });
    },
  ],
  [
    "never early",
    "a retry that a crash left open did not end the delay",
    (s) => {
      s.add(1, { delayMs: 50 }).call(RETRY);
      s.crash().seen({ state: "delayed" }).deliver(1);
    },
  ],
  [
    "answers",
    "a close leaves a call alone",
    (s) => {
      s.call(PURGE);
      s.crash(true);
    },
  ],
];

function extend(story: Story, number: number, leaseMs: number): Story {
  const items = [{ lease: `a${number}.1`, leaseMs }];
  return story.ok({ call: "extend", items }, story.at + leaseMs);
}

function groupEnd(story: Story): Story {
  const { at } = story;
  return story.event({ at, event: "group-ended", members: [], queue: "q", group: "q/g1" });
}

for (const [rule, what, tell] of BAD) {
  test(`the checker sees it: ${rule}: ${what}`, () => {
    assert.throws(
      () => tell(new Story()),
      (error) => error instanceof Broken && error.rule === rule,
    );
  });
}
