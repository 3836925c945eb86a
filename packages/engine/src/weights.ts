/**
 * The weight that a queue's policy gives to a node of its lanes: by its path joined with "/", else
 * by
 * the longest rule that ends in "*" and begins it, else 1.
 */
export function weightOf(rules: Readonly<Record<string, number>>, path: readonly string[]): number {
  const key = path.join("/");
  const exact = Object.hasOwn(rules, key) ? rules[key] : undefined;
  if (exact !== undefined) return exact;
  let best = "";
  for (const rule in rules) {
    if (!rule.endsWith("*") || rule.length <= best.length) continue;
    if (key.startsWith(rule.slice(0, -1))) best = rule;
  }
  return best === "" ? 1 : rules[best]!;
}
