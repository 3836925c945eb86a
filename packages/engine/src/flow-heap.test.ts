import assert from "node:assert/strict";
import { test } from "node:test";
import { FlowHeap } from "./flow-heap.ts";
import { SEQ } from "./job-fields.ts";
import { Jobs } from "./jobs.ts";
import { HEAD, NODE_INTS, TOP } from "./nodes.ts";
import { Table } from "./table.ts";

/** A lane and flows, each with a head of a given age. */
function setUp(ages: readonly number[]) {
  const nodes = new Table(NODE_INTS);
  const jobs = new Jobs();
  const heap = new FlowHeap(nodes, jobs);
  const lane = nodes.alloc();
  const setAge = (flow: number, age: number): void =>
    jobs.setNum(nodes.i[flow * nodes.ints + HEAD]!, SEQ, age);
  const flows = ages.map((age) => {
    const flow = nodes.alloc();
    nodes.i[flow * nodes.ints + HEAD] = jobs.alloc();
    setAge(flow, age);
    return flow;
  });
  const top = (): number => nodes.i[lane * nodes.ints + TOP]!;
  const drain = (): number[] => {
    const order: number[] = [];
    for (let flow = top(); flow !== 0; flow = top()) {
      order.push(flow);
      heap.remove(lane, flow);
    }
    return order;
  };
  return { heap, lane, flows, top, drain, setAge };
}

/** Whole numbers from 1 to n in an order without pattern. */
function shuffled(n: number): number[] {
  return Array.from({ length: n }, (_, i) => ((i * 7919) % n) + 1);
}

test("the flow with the oldest head is on top, from the first to the last", () => {
  const ages = shuffled(101);
  const { heap, lane, flows, drain } = setUp(ages);
  for (const flow of flows) heap.add(lane, flow);
  const expected = flows.toSorted((a, b) => ages[flows.indexOf(a)]! - ages[flows.indexOf(b)]!);
  assert.deepEqual(drain(), expected);
});

test("flows leave from anywhere, and the order of the others holds", () => {
  const ages = shuffled(101);
  const { heap, lane, flows, drain } = setUp(ages);
  for (const flow of flows) heap.add(lane, flow);
  const kept = flows.filter((flow, i) => {
    if (i % 4 !== 1) return true;
    heap.remove(lane, flow);
    return false;
  });
  const expected = kept.toSorted((a, b) => ages[flows.indexOf(a)]! - ages[flows.indexOf(b)]!);
  assert.deepEqual(drain(), expected);
});

test("a flow that got a younger or an older head finds its new place", () => {
  const { heap, lane, flows, drain, setAge } = setUp([1, 2, 3, 4, 5]);
  for (const flow of flows) heap.add(lane, flow);
  const [a, b, c, d, e] = flows as [number, number, number, number, number];
  setAge(a, 10);
  heap.update(lane, a);
  setAge(d, 0);
  heap.update(lane, d);
  assert.deepEqual(drain(), [d, b, c, e, a]);
});

test("the only ready flow of a lane stays on top whatever its head", () => {
  const { heap, lane, flows, top, setAge } = setUp([1]);
  heap.add(lane, flows[0]!);
  setAge(flows[0]!, 99);
  heap.update(lane, flows[0]!);
  assert.equal(top(), flows[0]);
  heap.remove(lane, flows[0]!);
  assert.equal(top(), 0);
});

test("flows that come in falling and in rising age make no deep heap", () => {
  // A heap that is a list would overflow the stack at this depth.
  const rising = Array.from({ length: 50_000 }, (_, i) => i + 1);
  for (const ages of [rising, rising.toReversed()]) {
    const { heap, lane, flows, drain } = setUp(ages);
    for (const flow of flows) heap.add(lane, flow);
    assert.equal(drain().length, flows.length);
  }
});
