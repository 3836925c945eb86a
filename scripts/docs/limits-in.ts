// The numbers that a source names, such as `const BATCH_MAX = 10 * 1024;`.

export function limitsIn(text: string): Map<string, number> {
  const values = new Map<string, number>();
  const numberOf = (factor: string): number =>
    values.get(factor) ?? Number(factor.replaceAll("_", ""));
  for (const [, name = "", product = ""] of text.matchAll(
    /^(?:export )?const ([A-Z]\w+) = (.+);$/gm,
  )) {
    const value = product.split(" * ").reduce((all, factor) => all * numberOf(factor), 1);
    if (!Number.isNaN(value)) values.set(name, value);
  }
  return values;
}
