/**
 * From what an indexer answered to what it means. The table of error codes is the protocol's, with
 * the additions that are in use:
 *
 *   100–107        its key is refused: it is left alone until the key changes
 *   200–203        our request or its caps are wrong: caps are fetched again, no penalty
 *   300            the item is gone
 *   429 500 501 910, HTTP 429 and 503, or a text that says so    it asks for time
 *   all others, other HTTP errors, network errors                 one step up the ladder
 */
import { Fault, type FaultOptions } from "../scheduler/fault.ts";
import { parseRetryAfter } from "./retry-after.ts";

export type Reaction = "disable" | "refetch-caps" | "none";

export interface TorznabFaultOptions extends FaultOptions {
  /** What it was, for programs: `html`, `doctype`, `http`, `code`, `network`, `timeout`, ... */
  readonly kind: string;
  readonly code?: number | undefined;
  readonly httpStatus?: number | undefined;
  readonly reaction?: Reaction | undefined;
}

export class TorznabFault extends Fault {
  readonly kind: string;
  readonly code: number | undefined;
  readonly httpStatus: number | undefined;
  readonly reaction: Reaction;

  constructor(message: string, options: TorznabFaultOptions) {
    super(message, options);
    this.name = "TorznabFault";
    this.kind = options.kind;
    this.code = options.code;
    this.httpStatus = options.httpStatus;
    this.reaction = options.reaction ?? "none";
  }
}

export interface Answered {
  readonly httpStatus: number;
  readonly retryAfter: string | undefined;
  readonly now: number;
}

const LIMIT_CODES = new Set([429, 500, 501, 910]);
const LIMIT_TEXT = /\b(request|query|api|download|grab|rate)s? limit\b|too many requests/i;

/** The `error` element, under whatever status it came. */
export function faultOfCode(
  { code, description }: { code: number | undefined; description: string },
  answered: Answered,
): TorznabFault {
  const said = `code ${code ?? "?"}: ${description || "no description"}`;
  const options = { kind: "code", code, httpStatus: answered.httpStatus };
  if (isLimit(answered.httpStatus) || LIMIT_CODES.has(code ?? 0) || LIMIT_TEXT.test(description)) {
    return limitFault(said, options, answered);
  }
  if (code !== undefined && code >= 100 && code <= 107) {
    return new TorznabFault(said, { ...options, reaction: "disable" });
  }
  if (code !== undefined && code >= 200 && code <= 203) {
    return new TorznabFault(said, { ...options, reaction: "refetch-caps" });
  }
  if (code === 300) return new TorznabFault(said, options);
  return new TorznabFault(said, { ...options, penalty: "ladder" });
}

/** An HTTP error whose body says nothing in the protocol's words. */
export function faultOfStatus(answered: Answered, body: string): TorznabFault {
  const { httpStatus } = answered;
  const said = `HTTP ${httpStatus}${body === "" ? "" : `, ${body}`}`;
  const options = { kind: "http", httpStatus };
  if (isLimit(httpStatus)) return limitFault(said, options, answered);
  const isTrouble = httpStatus >= 500 || [401, 403, 404, 408, 410].includes(httpStatus);
  return new TorznabFault(said, { ...options, penalty: isTrouble ? "ladder" : "none" });
}

function isLimit(httpStatus: number): boolean {
  return httpStatus === 429 || httpStatus === 503;
}

/** The raw value is kept: what was made of it may be wrong. */
function limitFault(
  said: string,
  options: TorznabFaultOptions,
  { httpStatus, retryAfter, now }: Answered,
): TorznabFault {
  const raw = retryAfter?.slice(0, 64);
  const http = said.startsWith("HTTP") ? said : `HTTP ${httpStatus}, ${said}`;
  const message = raw === undefined ? http : `${http}, Retry-After ${JSON.stringify(raw)}`;
  return new TorznabFault(message, {
    ...options,
    status: "rate_limited",
    penalty: "limit",
    retryAfterMs: parseRetryAfter(retryAfter, now) ?? 0,
  });
}
