/** What a page lacks because partitions of a cluster did not answer. */
export function missingText(missing: readonly number[] | undefined): string | undefined {
  if (missing === undefined || missing.length === 0) return undefined;
  const one = missing.length === 1;
  const who = one ? `Partition ${missing[0]} does` : `Partitions ${missing.join(", ")} do`;
  return `${who} not answer: what ${one ? "it holds" : "they hold"} is not shown here.`;
}
