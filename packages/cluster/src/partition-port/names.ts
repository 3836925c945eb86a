/**
 * How jobs and leases of a cluster are called: `7-c3k9` is the job that partition 7 calls `c3k9`,
 * `7-c3k9.4.6fzP0aLhwq` a lease of it.
 */
const PARTITION_DIGITS_MAX = 6;

export function outerName(partition: number, name: string): string {
  return `${partition}-${name}`;
}

/** The partition that a name belongs to; -1 when it is no name of a cluster. */
export function partitionOf(name: unknown): number {
  if (typeof name !== "string") return -1;
  const dash = name.indexOf("-");
  if (dash < 1 || dash > PARTITION_DIGITS_MAX) return -1;
  const digits = name.slice(0, dash);
  return /^(?:0|[1-9]\d*)$/.test(digits) ? Number(digits) : -1;
}

/** What the partition itself calls it. Undefined: it is not one of its names. */
export function innerName(partition: number, name: unknown): string | undefined {
  if (partitionOf(name) !== partition) return undefined;
  return (name as string).slice((name as string).indexOf("-") + 1);
}
