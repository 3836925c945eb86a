/** One call for many items, made as one call for each partition, answered as if it were one. */
import { type ErrorJson, type Outcome, type SluiceError, toSluiceError } from "@sluice/protocol";

export interface Share<I> {
  readonly partition: number;
  readonly items: I[];
  /** Where in the call each of them stood. */
  readonly places: number[];
}

export interface Shares<I> {
  readonly shares: readonly Share<I>[];
  /** Items that belong nowhere, and why. */
  readonly refused: ReadonlyMap<number, ErrorJson>;
}

export function sharesOf<I>(
  items: readonly I[],
  placeOf: (item: I, index: number) => number | ErrorJson,
): Shares<I> {
  const byPartition = new Map<number, Share<I>>();
  const refused = new Map<number, ErrorJson>();
  for (const [index, item] of items.entries()) {
    const place = placeOf(item, index);
    if (typeof place !== "number") {
      refused.set(index, place);
      continue;
    }
    let share = byPartition.get(place);
    if (share === undefined) {
      share = { partition: place, items: [], places: [] };
      byPartition.set(place, share);
    }
    share.items.push(item);
    share.places.push(index);
  }
  return { shares: [...byPartition.values()], refused };
}

/**
 * Makes the calls at the same time. If one partition refuses as a whole, only its items get that
 * error. The whole call is refused only when all answers are refusals.
 */
export async function callShares<I, T>(
  { shares, refused }: Shares<I>,
  call: (share: Share<I>) => Promise<Outcome<T>[]>,
): Promise<Outcome<T>[]> {
  const outcomes: Outcome<T>[] = [];
  const errors: SluiceError[] = [];
  for (const [index, error] of refused) outcomes[index] = { error };
  await Promise.all(
    shares.map(async (share) => {
      const { places } = share;
      try {
        const answers = await call(share);
        for (const [i, place] of places.entries()) outcomes[place] = answers[i]!;
      } catch (thrown) {
        const error = toSluiceError(thrown);
        errors.push(error);
        for (const place of places) outcomes[place] = { error: error.toJSON() };
      }
    }),
  );
  const isAnswered = errors.length < shares.length || refused.size > 0;
  // What was sent to one of them may have taken effect, whatever the others say.
  const sent = errors.find(({ code }) => code !== "UNAVAILABLE");
  if (errors.length > 0 && !isAnswered) throw sent ?? errors[0]!;
  return outcomes;
}
