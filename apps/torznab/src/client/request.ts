/**
 * One GET within bounds of time, bytes and redirects. Nothing thrown here holds the address: the
 * key is in it.
 */
import type { LookupFunction } from "node:net";
import { callOutside, type OutgoingAnswer, OutgoingError, type OutgoingReason } from "sluice/http";
import { REDIRECTS_MAX } from "../limits.ts";
import { TorznabFault, type TorznabFaultOptions } from "./torznab-fault.ts";

export interface RequestLimits {
  readonly timeoutMs: number;
  /** Its usual time is over: only then is it the indexer that is slow, and not we who are late. */
  readonly isFullTime: boolean;
  readonly bytesMax: number;
  readonly signal?: AbortSignal | undefined;
  /** Host and port that the operator configured: the only ones that may be private. */
  readonly trusted: string;
  readonly lookup?: LookupFunction | undefined;
}

export interface Response {
  readonly status: number;
  readonly headers: OutgoingAnswer["headers"];
  readonly bytes: Uint8Array;
  /** The address that answered, without its query. */
  readonly base: string;
  /** Where the indexer sent us, when that is no HTTP. */
  readonly magnet?: string;
}

export async function request(address: string, limits: RequestLimits): Promise<Response> {
  const { timeoutMs, bytesMax, signal, trusted, lookup } = limits;
  try {
    const { status, headers, body, url } = await callOutside(address, {
      chooser: URL.parse(address)?.host === trusted ? "operator" : "stranger",
      timeout: timeoutMs,
      bytesMax,
      redirectsMax: REDIRECTS_MAX,
      headers: { "user-agent": "sluice-torznab" },
      signal,
      lookup,
    });
    const { origin, pathname } = new URL(url);
    // Empty bodies may be one shared array, and readers in other threads take arrays away.
    const bytes = body.length === 0 ? new Uint8Array() : body;
    const answer = { status, headers, bytes, base: origin + pathname };
    const { location } = headers;
    return location?.startsWith("magnet:") === true ? { ...answer, magnet: location } : answer;
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    if (!(error instanceof OutgoingError)) throw error;
    throw new TorznabFault(TEXTS[error.reason](error, limits), OPTIONS[error.reason](limits));
  }
}

const TEXTS: Readonly<Record<OutgoingReason, (error: Error, limits: RequestLimits) => string>> = {
  address: ({ message }) => `a link or redirect is not followed: ${message}`,
  redirects: ({ message }) => message,
  size: (_, { bytesMax }) => `the answer is over ${bytesMax} bytes`,
  time: (_, { timeoutMs }) => `no answer within ${Math.round(timeoutMs)} ms`,
  encoding: ({ message }) => message,
  network: ({ message }) => `the connection failed: ${codeOf(message)}`,
  aborted: () => "it was given up",
};

const OPTIONS: Readonly<Record<OutgoingReason, (limits: RequestLimits) => TorznabFaultOptions>> = {
  address: () => ({ kind: "address" }),
  redirects: () => ({ kind: "redirects" }),
  size: () => ({ kind: "too_large", penalty: "ladder" }),
  time: ({ isFullTime }) => ({
    kind: "timeout",
    status: "timeout",
    penalty: isFullTime ? "ladder" : "none",
  }),
  encoding: () => ({ kind: "encoding" }),
  network: () => ({ kind: "network", penalty: "ladder" }),
  aborted: () => ({ kind: "network" }),
};

/** Only the code is shown: a message may hold the request. */
function codeOf(message: string): string {
  return /^[A-Z0-9_]{1,40}$/.test(message) ? message : "unknown error";
}
