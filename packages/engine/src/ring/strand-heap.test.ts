import assert from "node:assert/strict";
import { test } from "node:test";
import { SEQ } from "../jobs/job-fields.ts";
import { JobTable } from "../jobs/job-table.ts";
import { Table } from "../tables/table.ts";
import { HEAD, NODE_INTS, TOP } from "./node-fields.ts";
import { StrandHeap } from "./strand-heap.ts";

/** A lane and strands, each with a head of a given age. */
function setUp(ages: readonly number[]) {
  const nodes = new Table(NODE_INTS);
  const jobs = new JobTable();
  const heap = new StrandHeap(nodes, jobs);
  const lane = nodes.alloc();
  const setAge = (strand: number, age: number): void =>
    jobs.setNum(nodes.i[strand * nodes.ints + HEAD]!, SEQ, age);
  const strands = ages.map((age) => {
    const strand = nodes.alloc();
    nodes.i[strand * nodes.ints + HEAD] = jobs.alloc();
    setAge(strand, age);
    return strand;
  });
  const top = (): number => nodes.i[lane * nodes.ints + TOP]!;
  const drain = (): number[] => {
    const order: number[] = [];
    for (let strand = top(); strand !== 0; strand = top()) {
      order.push(strand);
      heap.remove(lane, strand);
    }
    return order;
  };
  return { heap, lane, strands, top, drain, setAge };
}

/** Whole numbers from 1 to n in an order without pattern. */
function shuffled(n: number): number[] {
  return Array.from({ length: n }, (_, i) => ((i * 7919) % n) + 1);
}

test("the strand with the oldest head is on top, from the first to the last", () => {
  const ages = shuffled(101);
  const { heap, lane, strands, drain } = setUp(ages);
  for (const strand of strands) heap.add(lane, strand);
  const expected = strands.toSorted(
    (a, b) => ages[strands.indexOf(a)]! - ages[strands.indexOf(b)]!,
  );
  assert.deepEqual(drain(), expected);
});

test("strands leave from anywhere, and the order of the others holds", () => {
  const ages = shuffled(101);
  const { heap, lane, strands, drain } = setUp(ages);
  for (const strand of strands) heap.add(lane, strand);
  const kept = strands.filter((strand, i) => {
    if (i % 4 !== 1) return true;
    heap.remove(lane, strand);
    return false;
  });
  const expected = kept.toSorted((a, b) => ages[strands.indexOf(a)]! - ages[strands.indexOf(b)]!);
  assert.deepEqual(drain(), expected);
});

test("a strand that got a younger or an older head finds its new place", () => {
  const { heap, lane, strands, drain, setAge } = setUp([1, 2, 3, 4, 5]);
  for (const strand of strands) heap.add(lane, strand);
  const [a, b, c, d, e] = strands as [number, number, number, number, number];
  setAge(a, 10);
  heap.update(lane, a);
  setAge(d, 0);
  heap.update(lane, d);
  assert.deepEqual(drain(), [d, b, c, e, a]);
});

test("the only ready strand of a lane stays on top whatever its head", () => {
  const { heap, lane, strands, top, setAge } = setUp([1]);
  heap.add(lane, strands[0]!);
  setAge(strands[0]!, 99);
  heap.update(lane, strands[0]!);
  assert.equal(top(), strands[0]);
  heap.remove(lane, strands[0]!);
  assert.equal(top(), 0);
});

test("strands that come in falling and in rising age make no deep heap", () => {
  // A heap that is a list would overflow the stack at this depth.
  const rising = Array.from({ length: 50_000 }, (_, i) => i + 1);
  for (const ages of [rising, rising.toReversed()]) {
    const { heap, lane, strands, drain } = setUp(ages);
    for (const strand of strands) heap.add(lane, strand);
    assert.equal(drain().length, strands.length);
  }
});
