/** What became of one announce to a forwarder, in the words that decide what follows. */
import { REASON_CHARS_MAX } from "../limits.ts";

export interface Answered {
  readonly kind: "answer";
  readonly intervalSeconds: number;
  readonly complete: number;
  readonly incomplete: number;
  /** Compact entries of 6 and 18 bytes. */
  readonly v4: Buffer;
  readonly v6: Buffer;
  readonly trackerId: string | undefined;
  /** How the forwarder sees us (BEP 24): 4 or 16 bytes. */
  readonly externalIp: string | undefined;
}

export type Outcome =
  | Answered
  /** Too many requests: nothing is sent to it for a while. */
  | { readonly kind: "suspend"; readonly ms: number; readonly reason: string }
  /** It may work in a moment. */
  | { readonly kind: "retry"; readonly reason: string }
  /** It will not work for this address. */
  | { readonly kind: "disable"; readonly reason: string }
  /** It answered, but not with peers. */
  | { readonly kind: "failed"; readonly reason: string }
  /** BEP 31: retry after this many minutes. */
  | { readonly kind: "later"; readonly minutes: number; readonly reason: string }
  /** BEP 31: never announce this hash to it again. */
  | { readonly kind: "never"; readonly reason: string };

const DISABLING = new Set(["ENOTFOUND", "ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH"]);
const TLS = /^(?:ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|EPROTO|HOSTNAME_MISMATCH)/;

/** An error of the network, from connecting to reading the last byte. */
export function ofError(error: unknown): Outcome {
  const code = codeOf(error);
  const reason = code === "" ? shorten(error) : code;
  if (DISABLING.has(code)) return { kind: "disable", reason };
  if (TLS.test(code)) return { kind: "disable", reason: `TLS failure: ${reason}` };
  if (code === "ESELF") return { kind: "disable", reason: "it is this tracker itself" };
  if (code === "EANSWER") return { kind: "failed", reason: shorten(error) };
  return { kind: "retry", reason };
}

/** Several addresses may have been tried: their error holds the others. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return "";
  if ("code" in error && typeof error.code === "string") return error.code;
  if (error.name === "TimeoutError" || error.name === "AbortError") return "ETIMEDOUT";
  return error instanceof AggregateError ? codeOf(error.errors[0]) : "";
}

/** A fault of the answer, not of the network. */
export class AnswerError extends Error {
  readonly code = "EANSWER";
}

export class SelfError extends Error {
  readonly code = "ESELF";

  constructor() {
    super("the forwarder is this tracker itself");
  }
}

/** A reason that a person reads: short, and without anything that a terminal would obey. */
export function shorten(reason: unknown): string {
  const text = reason instanceof Error ? reason.message : String(reason);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out.
  return text.replace(/[\x00-\x1f\x7f-\x9f]/g, " ").slice(0, REASON_CHARS_MAX);
}
