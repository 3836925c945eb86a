import type { Fact } from "../facts/facts.ts";
import { type QueueChange, TestEngine } from "../testing/test-engine.ts";
import type { Lease } from "../types.ts";

/** An engine with one queue, `q`, and all that it tells. */
export function open(options: QueueChange = {}): { engine: TestEngine; facts: Fact[] } {
  const facts: Fact[] = [];
  const engine = new TestEngine({ facts });
  engine.setQueue("q", options, 0);
  return { engine, facts };
}

export function takeOne(engine: TestEngine, now = 0, queue = "q"): Lease {
  return engine.lease(queue, 1, now)[0]!;
}
