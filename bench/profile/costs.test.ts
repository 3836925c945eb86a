import assert from "node:assert/strict";
import { test } from "node:test";
import { cpuCosts, heapCosts } from "./costs.ts";

const frame = (functionName: string, url = "") => ({ functionName, url });
const FILE = "file:///packages/log/src/writer.ts";
const PROFILE = {
  nodes: [
    { id: 1, callFrame: frame("(root)"), children: [2, 3, 4] },
    { id: 2, callFrame: frame("(idle)") },
    { id: 3, callFrame: frame("append", FILE), children: [5] },
    { id: 4, callFrame: frame("(garbage collector)") },
    { id: 5, callFrame: frame("writev") },
  ],
  startTime: 1000,
  endTime: 1100,
  samples: [3, 2, 5, 4, 5],
  timeDeltas: [10, 20, 30, 10, 20],
};

test("lists time by function, without idle time, the largest first", () => {
  assert.deepEqual(cpuCosts(PROFILE, 100, 0), [
    { what: "writev, called by append (log/src/writer.ts)", amount: 50 },
    { what: "append (log/src/writer.ts)", amount: 10 },
    { what: "(garbage collector)", amount: 10 },
  ]);
});

test("leaves out the time before and after the work", () => {
  // Samples end at 1010, 1030, 1060, 1070 and 1090.
  assert.deepEqual(cpuCosts(PROFILE, 50, 20), [
    { what: "writev, called by append (log/src/writer.ts)", amount: 30 },
    { what: "(garbage collector)", amount: 10 },
  ]);
});

test("lists memory by the function that allocated it", () => {
  const head = {
    callFrame: frame("(root)"),
    selfSize: 0,
    children: [
      {
        callFrame: frame("append", FILE),
        selfSize: 5,
        children: [{ callFrame: frame("concat"), selfSize: 7, children: [] }],
      },
    ],
  };
  assert.deepEqual(heapCosts({ head }).slice(0, 2), [
    { what: "concat, called by append (log/src/writer.ts)", amount: 7 },
    { what: "append (log/src/writer.ts)", amount: 5 },
  ]);
});
