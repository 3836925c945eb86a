import { type Outcome, toSluiceError } from "@sluice/protocol";

/** A call for those items of a batch that may go through; the others are answered here. */
export async function forAllowed<I, T>(
  items: readonly I[],
  refusals: readonly (Outcome<T> | undefined)[],
  call: (allowed: readonly I[]) => Promise<Outcome<T>[]>,
): Promise<Outcome<T>[]> {
  const allowed = items.filter((_, i) => refusals[i] === undefined);
  const answers = allowed.length === 0 ? [] : await call(allowed);
  let next = 0;
  return items.map((_, i) => refusals[i] ?? answers[next++]!);
}

/** Reads each item of a batch and makes the call with those that could be read. */
export function forReadable<B, I, T>(
  bodies: readonly B[],
  read: (body: B) => I,
  call: (items: readonly I[]) => Promise<Outcome<T>[]>,
): Promise<Outcome<T>[]> {
  const refusals: (Outcome<T> | undefined)[] = [];
  const items = bodies.map((body): I | undefined => {
    try {
      const item = read(body);
      refusals.push(undefined);
      return item;
    } catch (error) {
      refusals.push({ error: toSluiceError(error).toJSON() });
      return undefined;
    }
  });
  return forAllowed(items, refusals, (allowed) => call(allowed as readonly I[]));
}
