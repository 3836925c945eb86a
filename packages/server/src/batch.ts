import { isOtherCall, type Outcome, SluiceError, toSluiceError } from "@sluice/protocol";
import { READ_ITEMS_MS } from "./limits.ts";

/** A call for those items of a batch that may go through; the others are answered here. */
export function forAllowed<I, T>(
  items: readonly I[],
  refusals: readonly (Outcome<T> | undefined)[],
  call: (allowed: readonly I[]) => Promise<Outcome<T>[]>,
): Promise<Outcome<T>[]> {
  if (refusals.every((refusal) => refusal === undefined)) return call(items);
  return besideRefused(items, refusals, call);
}

/**
 * Perhaps the whole batch was added under its operation id, when the caller still might: what is
 * left of it is another call. The caller must know why.
 */
export function noteForbidden(
  refusals: readonly (Outcome<unknown> | undefined)[],
): (error: unknown) => never {
  return (error) => {
    if (!isOtherCall(error)) throw error;
    const { code, message, details } = error as SluiceError;
    const forbidden = refusals.find((refusal) => refusal !== undefined)?.error?.message;
    throw new SluiceError(code, message, { ...details, forbidden });
  };
}

async function besideRefused<I, T>(
  items: readonly I[],
  refusals: readonly (Outcome<T> | undefined)[],
  call: (allowed: readonly I[]) => Promise<Outcome<T>[]>,
): Promise<Outcome<T>[]> {
  const allowed = items.filter((_, i) => refusals[i] === undefined);
  const answers = allowed.length === 0 ? [] : await call(allowed);
  let next = 0;
  return items.map((_, i) => refusals[i] ?? answers[next++]!);
}

/**
 * Reads each item of a batch and makes the call with those that could be read. Items of a large
 * body may cost much to look at, so other requests get their turn between them.
 */
export async function forReadable<B, I, T>(
  bodies: readonly B[],
  read: (body: B) => I,
  call: (items: readonly I[]) => Promise<Outcome<T>[]>,
): Promise<Outcome<T>[]> {
  const refusals: (Outcome<T> | undefined)[] = [];
  const items: (I | undefined)[] = [];
  let since = performance.now();
  for (const body of bodies) {
    const i = items.push(undefined) - 1;
    try {
      items[i] = read(body);
    } catch (error) {
      refusals[i] = { error: toSluiceError(error).toJSON() };
    }
    if (performance.now() - since < READ_ITEMS_MS) continue;
    await new Promise(setImmediate);
    since = performance.now();
  }
  return forAllowed(items, refusals, (allowed) => call(allowed as readonly I[]));
}
