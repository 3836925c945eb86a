// A rule that the engine broke. The rule's name is what a failing world prints first.

export class Broken extends Error {
  readonly rule: string;

  constructor(rule: string, detail: string) {
    super(`${rule}: ${detail}`);
    this.name = "Broken";
    this.rule = rule;
  }
}

export function demand(holds: boolean, rule: string, detail: () => string): void {
  if (!holds) throw new Broken(rule, detail());
}

// `of` says whose `what` it is; the words are put together only when they are needed.
export function equal(
  rule: string,
  what: string,
  got: unknown,
  wanted: unknown,
  of: string | number = "",
): void {
  if (Object.is(got, wanted)) return;
  throw new Broken(rule, `${what} ${of} is ${show(got)}, the model says ${show(wanted)}`);
}

export function show(value: unknown): string {
  return typeof value === "number" ? String(value) : (JSON.stringify(value) ?? String(value));
}
