/** Packages that only some users need: they are imported when they are used. */
import { SluiceError } from "./errors.ts";

/** Imports what `what` needs. If a package is not installed, the error says how to install it. */
export async function needs<T>(
  what: string,
  packages: readonly string[],
  load: () => Promise<T>,
): Promise<T> {
  try {
    return await load();
  } catch (error) {
    throw missingPackage(what, packages, error) ?? error;
  }
}

/** Undefined: the error is about something else. */
export function missingPackage(
  what: string,
  packages: readonly string[],
  error: unknown,
): SluiceError | undefined {
  const { code, message = "" } = error as { code?: unknown; message?: string };
  const isMissing = code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND";
  if (!isMissing || !packages.some((name) => message.includes(name))) return undefined;
  const names = packages.join(" ");
  return new SluiceError("NOT_FOUND", `${what} needs ${names}: npm install ${names}`, { what });
}
