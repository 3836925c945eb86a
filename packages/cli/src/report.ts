/** How a command that failed ends: its exit code, and what it prints on standard error. */
import { type ErrorCode, type ErrorJson, SluiceError } from "@sluice/protocol";
import { EXIT } from "./command.ts";

/** The server does not answer: a script may try again later. */
const UNREACHABLE: readonly ErrorCode[] = ["DISCONNECTED", "UNAVAILABLE", "TIMEOUT"];

export function exitCodeOf(error: unknown): number {
  if (!(error instanceof SluiceError)) return EXIT.unexpected;
  // A value that makes no sense, whether it was found here or by the server.
  if (error.code === "INVALID") return EXIT.misuse;
  return UNREACHABLE.includes(error.code) ? EXIT.unreachable : EXIT.wrong;
}

export function wantsJson(args: readonly string[]): boolean {
  const cut = args.indexOf("--");
  return (cut === -1 ? args : args.slice(0, cut)).includes("--json");
}

export function errorLine(error: ErrorJson): string {
  return JSON.stringify({ error });
}

/** Undefined: a bug, whose stack is worth more than a sentence. */
export function wordsOfError(error: unknown, isJson: boolean): string | undefined {
  if (!(error instanceof SluiceError)) {
    if (!isJson) return undefined;
    return errorLine({ code: "INTERNAL", message: stackOf(error) });
  }
  return isJson ? errorLine(error.toJSON()) : error.message;
}

/** Some libraries empty the stack of their errors. */
function stackOf(error: unknown): string {
  return error instanceof Error ? error.stack || String(error) : String(error);
}
