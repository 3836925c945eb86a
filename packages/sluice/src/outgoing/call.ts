/**
 * Calls to the outside over HTTP, bounded in time, size and redirects.
 *
 * An address that the operator configured may be private. One from another source (a user, a
 * remote list, a link in an answer, a redirect) must be public, on a usual port, and the address
 * that was checked is the one that is connected to. A redirect to the same origin is still the
 * operator's; any other is a stranger's, and gets no credentials.
 */
import type { IncomingMessage } from "node:http";
import { request as requestHttps, Agent as SecureAgent } from "node:https";
import type { LookupFunction } from "node:net";
import { type Duration, parseDuration } from "@sluice/protocol";
import { IDLE_SOCKET_MS, IDLE_SOCKETS_MAX, REDIRECTS_MAX, STRANGERS_PORTS } from "../limits.ts";
import { readBody } from "./body.ts";
import { OutgoingError } from "./errors.ts";
import { type Chooser, checkTarget, hostOf, parseTarget, portOf, publicLookup } from "./target.ts";

/** An import of `node:http` would load its WebSocket and `fetch` too: 30 ms of a server's start. */
const { Agent, request: requestHttp } = process.getBuiltinModule("node:http");

export interface OutgoingOptions {
  /** Who chose the address. */
  chooser: Chooser;
  /** For the whole call, redirects and body included. */
  timeout: Duration;
  /** Of the body, unpacked. */
  bytesMax: number;
  method?: "GET" | "POST" | "PUT" | "HEAD" | undefined;
  headers?: Readonly<Record<string, string>> | undefined;
  body?: string | Uint8Array | undefined;
  /** Default 3. */
  redirectsMax?: number | undefined;
  /** Where strangers' addresses may lead. Default 80 and 443. */
  ports?: readonly number[] | undefined;
  signal?: AbortSignal | undefined;
  /** How names become addresses; the system's, unless a test has its own. */
  lookup?: LookupFunction | undefined;
}

export interface OutgoingAnswer {
  status: number;
  headers: IncomingMessage["headers"];
  body: Uint8Array;
  /** Where the answer came from, after redirects. */
  url: string;
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const CREDENTIALS = new Set(["authorization", "cookie", "x-api-key"]);

const pool = {
  keepAlive: true,
  maxFreeSockets: IDLE_SOCKETS_MAX,
  timeout: IDLE_SOCKET_MS,
};
/** Apart for each chooser: a stranger must not be given a socket that an operator may open. */
const agents = {
  operator: { "http:": new Agent(pool), "https:": new SecureAgent(pool) },
  stranger: { "http:": new Agent(pool), "https:": new SecureAgent(pool) },
};

export async function callOutside(
  address: string | URL,
  options: OutgoingOptions,
): Promise<OutgoingAnswer> {
  const over = new AbortController();
  const timeoutMs = parseDuration("timeout", options.timeout);
  const timer = setTimeout(() => {
    over.abort(new OutgoingError("time", `no whole answer within ${timeoutMs} ms`));
  }, timeoutMs);
  const giveUp = (): void => {
    over.abort(new OutgoingError("aborted", "the call was given up", { cause: signal?.reason }));
  };
  const { signal } = options;
  signal?.addEventListener("abort", giveUp, { once: true });
  if (signal?.aborted) giveUp();
  try {
    return await follow(parseTarget(address), options, over.signal);
  } catch (error) {
    throw over.signal.aborted ? over.signal.reason : wrap(error);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", giveUp);
  }
}

async function follow(
  first: URL,
  options: OutgoingOptions,
  signal: AbortSignal,
): Promise<OutgoingAnswer> {
  const { redirectsMax = REDIRECTS_MAX, ports = STRANGERS_PORTS } = options;
  const { chooser, method = "GET" } = options;
  let hop: Hop = { url: first, chooser, method, isAtHome: true };
  for (let hops = 0; ; hops++) {
    checkTarget(hop.url, hop.chooser, ports);
    const incoming = await send(hop, options, signal);
    const { statusCode: status = 0, headers } = incoming;
    const url = hop.url.href;
    if (!REDIRECTS.has(status)) {
      return { status, headers, body: await readBody(incoming, options.bytesMax, signal), url };
    }
    incoming.destroy();
    if (leadsElsewhere(headers.location)) return { status, headers, body: NO_BODY, url };
    if (hops >= redirectsMax) {
      throw new OutgoingError("redirects", `more than ${redirectsMax} redirects`);
    }
    hop = nextHop(hop, incoming, first);
  }
}

const NO_BODY = new Uint8Array(0);

/** A redirect out of HTTP, as to a magnet link, is not followed: it is the answer. */
function leadsElsewhere(location: string | undefined): boolean {
  const [, scheme] = /^([a-z][a-z0-9+.-]*):/i.exec(location ?? "") ?? [];
  return scheme !== undefined && !/^https?$/i.test(scheme);
}

interface Hop {
  readonly url: URL;
  readonly chooser: Chooser;
  readonly method: string;
  /** At the origin that was called first: only there credentials are shown. */
  readonly isAtHome: boolean;
}

function nextHop(hop: Hop, { statusCode, headers }: IncomingMessage, first: URL): Hop {
  const url = URL.parse(headers.location ?? "", hop.url.href);
  if (headers.location === undefined || url === null) {
    throw new OutgoingError("redirects", `${hop.url.host} redirects to no address`);
  }
  const isAtHome = url.origin === first.origin && hop.isAtHome;
  const isRepeated = statusCode === 307 || statusCode === 308 || hop.method === "HEAD";
  return {
    url,
    chooser: isAtHome ? hop.chooser : "stranger",
    method: isRepeated ? hop.method : "GET",
    isAtHome,
  };
}

function send(hop: Hop, options: OutgoingOptions, signal: AbortSignal): Promise<IncomingMessage> {
  const { url, chooser, method } = hop;
  const protocol = url.protocol as "http:" | "https:";
  const lookup = chooser === "stranger" ? publicLookup(options.lookup) : options.lookup;
  return new Promise((resolve, reject) => {
    const request = (protocol === "https:" ? requestHttps : requestHttp)({
      protocol,
      host: hostOf(url),
      port: portOf(url),
      path: url.pathname + url.search,
      method,
      headers: headersFor(options, hop.isAtHome),
      agent: agents[chooser][protocol],
      signal,
      ...(lookup === undefined ? {} : { lookup }),
      ...(url.username === "" ? {} : { auth: `${url.username}:${url.password}` }),
    });
    request.once("response", resolve);
    request.on("error", reject);
    request.end(method === "POST" || method === "PUT" ? options.body : undefined);
  });
}

function headersFor(
  { headers = {} }: OutgoingOptions,
  hasCredentials: boolean,
): Record<string, string> {
  const sent: Record<string, string> = { "accept-encoding": "gzip, deflate, br" };
  for (const [name, value] of Object.entries(headers)) {
    if (hasCredentials || !CREDENTIALS.has(name.toLowerCase())) sent[name.toLowerCase()] = value;
  }
  return sent;
}

function wrap(error: unknown): OutgoingError {
  if (error instanceof OutgoingError) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  return new OutgoingError("network", code ?? message, { cause: error });
}
