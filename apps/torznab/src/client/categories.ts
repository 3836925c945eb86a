/**
 * Whether a release is in one of the wanted categories. Indexers may ignore categories, so their
 * answers are filtered. A parent category includes all of its children. A release without
 * categories passes.
 */
export function isInCategories(
  categories: readonly number[],
  wanted: readonly number[] | undefined,
): boolean {
  if (wanted === undefined || categories.length === 0) return true;
  return categories.some((id) =>
    wanted.some((want) => want === id || (want % 1_000 === 0 && id - (id % 1_000) === want)),
  );
}

/** An indexer's own categories by number, and what each is in the standard numbering. */
export type CategoryMap = Readonly<Record<string, number>>;

/** What a release is in: its own categories, and what the user says that they are. */
export function mapped(categories: readonly number[], map: CategoryMap = {}): number[] {
  const known = categories.map((id) => map[id]).filter((id) => id !== undefined);
  return [...new Set([...categories, ...known])].sort((a, b) => a - b);
}

/**
 * The categories to ask an indexer for: its own numbers in place of the standard ones that they
 * are mapped to. A standard one that the indexer lists as well is asked for too.
 */
export function unmapped(
  wanted: readonly number[],
  map: CategoryMap,
  listed: ReadonlySet<number>,
): number[] {
  const own = Object.entries(map).filter(([, standard]) => isInCategories([standard], wanted));
  const replaced = new Set(own.map(([, standard]) => standard));
  const kept = wanted.filter(
    (id) => listed.has(id) || ![...replaced].some((one) => isInCategories([one], [id])),
  );
  return [...new Set([...kept, ...own.map(([id]) => Number(id))])].sort((a, b) => a - b);
}
