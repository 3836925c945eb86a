import type { Engine, JobSpec } from "@sluice/engine";
import { questionOf } from "../new-jobs.ts";
import type { Answer } from "../policy/lua/batch.ts";
import type { Policies } from "../policy/policies.ts";

/** Lets the policy of a queue fill in what is open; a promise only when its script is asked. */
export function filledSpecs(
  policies: Policies,
  engine: Engine,
  queue: string,
  specs: readonly JobSpec[],
): readonly JobSpec[] | Promise<readonly JobSpec[]> {
  if (engine.findQueueConfig(queue)?.policy === undefined) return specs;
  const script = policies.asks(queue, "enqueue");
  const fill = (answers: readonly Answer[]): readonly JobSpec[] => {
    const config = engine.findQueueConfig(queue);
    const policy = config?.policy === undefined ? undefined : policies.of(queue);
    for (const [i, spec] of specs.entries()) policy?.fill(spec, answers[i], queue, config!);
    return specs;
  };
  if (script === undefined) return fill([]);
  return policies.ask(script, "enqueue", specs.map(questionOf)).then(fill);
}
