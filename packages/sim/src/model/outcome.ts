// What a call to the engine came to: an answer, or the code of a refusal.

import { Broken, show } from "../demand.ts";

export type Outcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly code: string };

export function outcomeOf<T>(call: () => T): Outcome<T> {
  try {
    return { ok: true, value: call() };
  } catch (error) {
    const code = codeOf(error);
    if (code === undefined) throw error;
    return { ok: false, code };
  }
}

function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || error.name !== "Refusal") return undefined;
  return (error as Error & { code?: string }).code;
}

// True when the call had to be refused, and was, with one of these codes. With no codes the call
// had to succeed.
export function isRefused(outcome: Outcome<unknown>, codes: readonly string[]): boolean {
  if (codes.length === 0) {
    if (outcome.ok) return false;
    throw new Broken("answer", `got ${outcome.code}, the model accepts the call`);
  }
  if (!outcome.ok && codes.includes(outcome.code)) return true;
  const got = outcome.ok ? `the answer ${show(outcome.value)}` : outcome.code;
  throw new Broken("answer", `got ${got}, the model wants ${codes.join(" or ")}`);
}
