import assert from "node:assert/strict";
import { test } from "node:test";
import { ClusterHistory, type Delivery } from "./cluster-history.ts";

function delivery(lease: string, more: Partial<Delivery> = {}): Delivery {
  return { id: "1-a", lease, name: "a", gate: undefined, at: 0, until: 0, ...more };
}

const PLANTED: Readonly<Record<string, [(history: ClusterHistory) => void, RegExp]>> = {
  "a job that is lost": [(history) => history.added("a", "1-a"), /was lost/],
  "a finished job that comes again": [
    (history) => {
      history.delivered(delivery("1-a.1"));
      history.finished("1-a");
      history.delivered(delivery("1-a.2"));
    },
    /after it was finished/,
  ],
  "two who confirm the same end": [
    (history) => {
      history.finished("1-a");
      history.finished("1-a");
    },
    /finished twice/,
  ],
  "one id for two jobs": [
    (history) => {
      history.added("a", "1-a");
      history.added("b", "1-a");
      history.finished("1-a");
    },
    /is both a and b/,
  ],
  "one job with two ids": [
    (history) => {
      history.delivered(delivery("1-a.1"));
      history.delivered(delivery("1-b.1", { id: "1-b" }));
    },
    /is both 1-a and 1-b/,
  ],
  "a lease that comes twice": [
    (history) => {
      history.delivered(delivery("1-a.1"));
      history.delivered(delivery("1-a.1"));
    },
    /delivered twice/,
  ],
  "a job that is with two workers at once": [
    (history) => {
      history.delivered(delivery("1-a.1", { at: 0, until: 8_000 }));
      history.delivered(delivery("1-a.2", { at: 7_999, until: 15_999 }));
    },
    /is with two workers/,
  ],
  "more at once than a gate lets through": [
    (history) => {
      history.rule("two", { concurrency: 2 });
      for (const id of ["1-a", "1-b", "1-c"]) {
        history.delivered(delivery(`${id}.1`, { id, name: id, gate: "two" }));
      }
    },
    /two: concurrency: 3 of 2/,
  ],
  "more in a time than a gate lets through": [
    (history) => {
      history.rule("slow", { rate: 10, burst: 10 });
      for (let i = 0; i <= 80; i++) {
        const id = `1-${i}`;
        const one = delivery(id, { id, name: id, gate: "slow", at: i * 50 });
        history.delivered(one);
        history.worked(one, one.at);
      }
    },
    /slow: window/,
  ],
};

for (const [what, [plant, failure]] of Object.entries(PLANTED)) {
  test(`the history shows ${what}`, () => {
    const history = new ClusterHistory();
    plant(history);
    history.judge();
    assert.match(history.failures.join("\n"), failure);
  });
}

test("a history without a fault has none", () => {
  const history = new ClusterHistory();
  history.rule("two", { concurrency: 2, rate: 100, burst: 10 });
  history.added("a", "1-a");
  for (const lease of ["1-a.1", "1-a.2"]) {
    const one = delivery(lease, { gate: "two", until: 8_000 });
    history.delivered(one);
    history.worked(one, one.at);
  }
  // A lease that has run out while its holder still works on the job.
  history.delivered(delivery("1-a.3", { at: 10_000, until: 18_000 }));
  history.delivered(delivery("1-a.4", { at: 18_000, until: 26_000 }));
  history.over("1-a");
  history.finished("1-a");
  history.judge();
  assert.deepEqual(history.failures, []);
});
