/** Patterns for names of queues and gates: a name, a prefix that ends in `*`, or `*`. */

const NAME = /^[A-Za-z0-9._:-]{1,255}$/;

export function isPattern(pattern: unknown): pattern is string {
  if (typeof pattern !== "string") return false;
  return pattern === "*" || NAME.test(pattern.endsWith("*") ? pattern.slice(0, -1) : pattern);
}

export function matchesPattern(pattern: string, name: string): boolean {
  return pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : pattern === name;
}

/** Whether every name that `inner` matches is matched by `outer`. */
export function isWithinPattern(outer: string, inner: string): boolean {
  if (!outer.endsWith("*")) return outer === inner;
  return inner.replace(/\*$/, "").startsWith(outer.slice(0, -1));
}
