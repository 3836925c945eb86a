/** How many items from the first on hold, found by halving: none holds behind one that does not. */
export function countWhile<T>(items: readonly T[], holds: (item: T) => boolean): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(items[middle]!)) low = middle + 1;
    else high = middle;
  }
  return low;
}
