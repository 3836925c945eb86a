/** Implementations of the port: made from the table, except for the calls written by hand. */
import type { CallRow, CallsOf } from "./call.ts";
import { CALL_NAMES, type CALLS, type CallName, rowOf } from "./index.ts";

type Calls<N extends CallName> = Pick<CallsOf<typeof CALLS>, N>;

/** A parent that promises these calls; `defineCalls` gives them to the class. */
export function callsOf<N extends CallName>(): abstract new () => Calls<N> {
  return class {} as unknown as abstract new () => Calls<N>;
}

interface Class<T> {
  readonly prototype: T;
}

/** Gives a class every call of the table that it has not written itself. */
export function defineCalls<T>(
  { prototype }: Class<T>,
  make: (name: CallName, row: CallRow) => (self: T, args: readonly unknown[]) => unknown,
): void {
  const methods = prototype as Record<string, unknown>;
  for (const name of CALL_NAMES) {
    if (Object.hasOwn(methods, name)) continue;
    const call = make(name, rowOf(name));
    methods[name] = function (this: T, ...args: unknown[]): unknown {
      return call(this, args);
    };
  }
}
