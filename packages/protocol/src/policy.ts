/**
 * What a queue tells the jobs that are added to it, each option on its own, when their producer
 * does not say. A policy is data: it is stored with the queue and runs where the broker is.
 *
 * A template is a text with places: `{headers.tenant}` is the value of a header, `{queue}` the name
 * of the queue, and `{headers.region|eu}` is `eu` when the header is missing or empty. A template
 * whose header is missing, without such a default, has no value, and an option without a value, or
 * with one that cannot be, is as if the policy did not name it: a policy never refuses a job.
 */
export interface QueuePolicy {
  /** One template, or one for each level of a path; a level without a value is the empty key. */
  fairnessKey?: string | readonly string[] | undefined;
  weight?: PolicyNumber | undefined;
  /** Tier index or name. */
  priority?: PolicyNumber | PolicyChoice<number | string> | undefined;
  /** Templates; one without a value falls away. What no name may have becomes `_`. */
  gates?: readonly string[] | undefined;
  /**
   * Which of the gates that this policy puts on a job its workers may cool down or blame with a
   * failure: names, prefixes that end in `*`, or `*`. Absent: all of them.
   */
  cools?: readonly string[] | undefined;
  cost?: PolicyNumber | undefined;
  delayMs?: PolicyNumber | undefined;
  ttlMs?: PolicyNumber | undefined;
  maxWaitMs?: PolicyNumber | undefined;
  attempts?: PolicyNumber | undefined;
  leaseMs?: PolicyNumber | undefined;
  /**
   * A program in Lua 5.4 with `on_enqueue(msg)`, `on_failure(msg)` or both. What it says comes
   * before the templates, which stand in for it when it says nothing or fails.
   */
  lua?: string | undefined;
}

/** A number, a template that makes one, or a choice between some. */
export type PolicyNumber = number | string | PolicyChoice<number>;

/** The value that stands beside what `by` makes; else `default`; else none. */
export interface PolicyChoice<T> {
  by: string;
  values: Readonly<Record<string, T>>;
  default?: T | undefined;
}
