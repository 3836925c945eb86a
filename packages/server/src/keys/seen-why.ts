/**
 * Gates are shared, so the answer to `why` may name jobs and workers of other queues: those that
 * hold a gate's places, are first in its line, or have its next permit. A key learns of them only
 * where it has rights on their queue. Of the others it learns how many hold the gate.
 */
import { type Why, type WhyGated, whyText } from "@sluice/protocol";

type QueuesOf = (ids: readonly string[]) => Promise<(string | undefined)[]>;

/** `queuesOf` answers the queues that the key may see. */
export async function seenWhy(why: Why, queuesOf: QueuesOf): Promise<Why> {
  if (why.state !== "waiting" || why.reason !== "gated") return why;
  const { text: _, asOf, first, holders, keptFor, ...rest } = why;
  const ids = [first?.id, holders?.id, keptFor?.id].filter((id) => id !== undefined);
  const queues = await queuesOf(ids);
  const isSeen = (id: string | undefined): boolean =>
    id !== undefined && queues[ids.indexOf(id)] !== undefined;
  const facts: WhyGated = { ...rest };
  if (isSeen(first?.id)) facts.first = first!;
  if (isSeen(keptFor?.id)) facts.keptFor = keptFor!;
  if (holders !== undefined) facts.holders = isSeen(holders.id) ? holders : countOf(holders);
  return { ...facts, asOf, text: whyText(facts, asOf) };
}

function countOf({ count }: NonNullable<WhyGated["holders"]>): { count: number } {
  return { count };
}
