import { Engine } from "../engine.ts";
import type { Fact } from "../facts/facts.ts";
import type { Lease, QueueOptions } from "../types.ts";

/** An engine with one queue, `q`, and all that it tells. */
export function open(options: QueueOptions = {}): { engine: Engine; facts: Fact[] } {
  const facts: Fact[] = [];
  const engine = new Engine({ facts });
  engine.setQueue("q", options, 0);
  return { engine, facts };
}

export function takeOne(engine: Engine, now = 0, queue = "q"): Lease {
  return engine.lease(queue, 1, now)[0]!;
}
