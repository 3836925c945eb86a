/** Letters that may differ: more would suggest words that were not meant. */
const DISTANCE_MAX = 2;

/** The known word nearest to a given one, if it is near. Capitals do not count. */
export function nearest(
  given: string,
  known: readonly string[],
  distanceMax = DISTANCE_MAX,
): string | undefined {
  const [found] = known
    .map((word) => ({ word, distance: distanceOf(given.toLowerCase(), word.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance);
  if (found === undefined || found.distance > distanceMax) return undefined;
  return found.distance < found.word.length ? found.word : undefined;
}

/** Letters to change, add or remove: one row of the usual table at a time. */
function distanceOf(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const changed = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(changed, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[b.length]!;
}
