/** How the lanes of a queue share its workers, and queues the gates that they have in common. */
export interface LaneOptions {
  fairness: boolean;
  /**
   * Weights of lanes by key; for a path, by its levels joined with "/". `*` at the end matches a
   * prefix.
   */
  weights: Readonly<Record<string, number>>;
  /** The queue's weight behind gates it shares with other queues. */
  weight: number;
}

/** The rules of a policy, ready to be looked up. */
interface Index {
  /** The text before the `*` of each rule that ends in one. */
  readonly prefixes: ReadonlyMap<string, number>;
  /** The lengths that occur among them, longest first. */
  readonly lengths: readonly number[];
}

/** A policy is an object that never changes, so its index is made once. */
const indexes = new WeakMap<object, Index>();

function indexOf(rules: Readonly<Record<string, number>>): Index {
  const known = indexes.get(rules);
  if (known !== undefined) return known;
  const prefixes = new Map<string, number>();
  for (const rule in rules) {
    if (rule.endsWith("*")) prefixes.set(rule.slice(0, -1), rules[rule]!);
  }
  const lengths = [...new Set([...prefixes.keys()].map((prefix) => prefix.length))];
  const index = { prefixes, lengths: lengths.sort((a, b) => b - a) };
  indexes.set(rules, index);
  return index;
}

/**
 * How a rule names a lane or a level: the levels of its path joined with "/". A key that is one
 * level is never split, so a "/" of its own is written `\/`, and a `\` twice.
 */
export function ruleOf(path: readonly string[]): string {
  return path.map((level) => level.replace(/[\\/]/g, "\\$&")).join("/");
}

/**
 * The weight that a queue's policy gives to a node of its lanes: by the rule of its path, else by
 * the longest rule that ends in "*" and begins it, else 1. Costs a look-up per length of rule.
 */
export function weightOf(rules: Readonly<Record<string, number>>, path: readonly string[]): number {
  const key = ruleOf(path);
  const exact = Object.hasOwn(rules, key) ? rules[key] : undefined;
  if (exact !== undefined) return exact;
  const { prefixes, lengths } = indexOf(rules);
  for (const length of lengths) {
    const weight = length > key.length ? undefined : prefixes.get(key.slice(0, length));
    if (weight !== undefined) return weight;
  }
  return 1;
}
