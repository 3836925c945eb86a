/** Steps of one gate, and of one more level of a path: made on first use, looked up after that. */
const STEPS_PER_PART = 2;

/**
 * How much work it is to add a job, in steps of about 3 µs at the worst. A call that adds jobs of
 * at most `ADD_STEPS_MAX` steps together ends within 5 ms. What is not a job counts as a plain one:
 * it is refused.
 */
export function addSteps(job: { gates?: unknown; fairnessKey?: unknown } | undefined): number {
  const gates = Array.isArray(job?.gates) ? job.gates.length : 0;
  const levels = Array.isArray(job?.fairnessKey) ? job.fairnessKey.length : 1;
  return 1 + STEPS_PER_PART * (gates + Math.max(0, levels - 1));
}
