/**
 * Whether a release is in one of the wanted categories. Indexers may ignore categories, so their
 * answers are filtered. A parent stands for all of its children; a release without any passes.
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
