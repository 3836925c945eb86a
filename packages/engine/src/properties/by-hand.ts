import type { TestEngine } from "../testing/test-engine.ts";

/** A person forgets a job, gives it another payload, or puts it into another queue. */
export function byHand([id, n, to]: [number, number, string]): (
  engine: TestEngine,
  now: number,
) => void {
  return (engine, now) => {
    if (n === 0) engine.byHand.forget(id, now);
    else if (n === 1) engine.byHand.edit(id, 7, id % 100, now);
    else engine.byHand.transfer(id, to, now);
  };
}
