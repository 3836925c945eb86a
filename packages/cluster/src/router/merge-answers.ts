/** What several partitions answer to one call, as one answer. */
import type { CallName, Outcome, QueueInfo, WorkerInfo, WorkersOptions } from "@sluice/protocol";
import { mergeQueues, mergeWorkers } from "./merge-queues.ts";

type Args = readonly unknown[];
type Merge = (answers: never, partitions: number, args: Args) => unknown;

/** Of the calls whose answers say more than numbers and lists do. */
const MERGES: Partial<Record<CallName, Merge>> = {
  queue: (infos: readonly QueueInfo[], partitions) => mergeQueues(infos, partitions),
  workers: (lists: readonly (readonly WorkerInfo[])[], _, [, options]) =>
    mergeWorkers(lists, (options as WorkersOptions | undefined)?.jobs),
  cancelByKey: (lists: readonly Outcome<boolean>[][]) => mergeCancelled(lists),
};

/**
 * Numbers are added and lists are joined. Of other answers the first partition gives the one that
 * counts, unless the call has a merge of its own.
 */
export function mergeAnswers(
  name: CallName,
  answers: readonly unknown[],
  partitions: number,
  args: Args,
): unknown {
  const merge = MERGES[name];
  if (merge !== undefined) return merge(answers as never, partitions, args);
  const [first] = answers;
  if (typeof first === "number") {
    return (answers as readonly number[]).reduce((sum, number) => sum + number, 0);
  }
  return Array.isArray(first) ? answers.flat() : first;
}

/** The job that holds a key may be in any partition: one that has cancelled it decides. */
function mergeCancelled(lists: readonly Outcome<boolean>[][]): Outcome<boolean>[] {
  return lists[0]!.map((_, i) => {
    const answers = lists.map((list) => list[i]!);
    const decisive = answers.find(({ ok }) => ok === true) ?? answers.find(({ error }) => error);
    return decisive ?? answers[0]!;
  });
}
