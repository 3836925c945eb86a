/** Errors on their way from a handler's thread to the server. */
import { RetryAfter } from "sluice";
import type { Thrown } from "./message.ts";

/** The error as the server throws it, with the name and the stack of the original. */
export function errorOf({ name, message, stack, wait }: Thrown): Error {
  if (wait !== undefined) {
    const { delay, ...rest } = wait;
    return new RetryAfter(delay, rest);
  }
  const error = new Error(message);
  error.name = name;
  if (stack !== undefined) error.stack = stack;
  return error;
}
