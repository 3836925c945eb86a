import { KEPT_ANSWER_BYTES_MAX } from "../limits.ts";
import type { Answer } from "./submission.ts";

export interface Kept<Result> extends Answer<Result> {
  readonly cut?: true | undefined;
}

/**
 * What of an answer is kept with its job: as many of the first results as fit. The submitter of now
 * gets all of them; only a reader after a crash sees the cut, and the answer says so.
 */
export function keptOf<Result>(answer: Answer<Result>): Kept<Result> {
  let results = answer.results;
  for (;;) {
    const bytes = Buffer.byteLength(JSON.stringify(results));
    if (bytes <= KEPT_ANSWER_BYTES_MAX) break;
    const share = KEPT_ANSWER_BYTES_MAX / bytes;
    results = results.slice(0, Math.floor(results.length * share * 0.95));
  }
  return results === answer.results ? answer : { ...answer, results, cut: true };
}
