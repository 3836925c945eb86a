import type { Action } from "./grant.ts";
import type { Permit } from "./permit.ts";

/**
 * Makes a call that may wait, and ends it when the right to make it is lost: the key was revoked,
 * has expired or lost the grant. It is then refused as its next call would be.
 */
export async function whileAllowed<T>(
  permit: Permit,
  actions: Action | readonly Action[],
  name: string,
  given: AbortSignal | undefined,
  call: (signal: AbortSignal | undefined) => Promise<T>,
): Promise<T> {
  const { principal } = permit;
  if (principal.watch === undefined) return call(given);
  const controller = new AbortController();
  const end = (): void => controller.abort();
  const leave = principal.watch(() => {
    if (!permit.still(actions, name)) end();
  });
  if (given?.aborted === true) end();
  given?.addEventListener("abort", end, { once: true });
  try {
    return await call(controller.signal);
  } catch (error) {
    permit.check(actions, name);
    throw error;
  } finally {
    leave();
    given?.removeEventListener("abort", end);
  }
}
