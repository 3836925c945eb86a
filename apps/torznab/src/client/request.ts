/**
 * One GET within bounds of time, bytes and redirects. Nothing thrown here holds the address: the
 * key is in it.
 */
import { get as httpGet, type IncomingMessage, type RequestOptions } from "node:http";
import { get as httpsGet } from "node:https";
import type { Readable } from "node:stream";
import { createGunzip, createInflate } from "node:zlib";
import { REDIRECTS_MAX } from "../limits.ts";
import { pinned, publicAddresses, type Resolve, resolveHost } from "./address.ts";
import { TorznabFault } from "./torznab-fault.ts";

export interface RequestLimits {
  readonly timeoutMs: number;
  /** Its usual time is over: only then is it the indexer that is slow, and not we who are late. */
  readonly isFullTime: boolean;
  readonly bytesMax: number;
  readonly signal?: AbortSignal | undefined;
  /** Host and port that the operator configured: the only ones that may be private. */
  readonly trusted: string;
  readonly resolve?: Resolve | undefined;
}

export interface Response {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly bytes: Uint8Array;
  /** The address that answered, without its query. */
  readonly base: string;
  /** Where the indexer sent us, when that is no HTTP. */
  readonly magnet?: string;
}

export async function request(address: string, limits: RequestLimits): Promise<Response> {
  const timeout = AbortSignal.timeout(limits.timeoutMs);
  const signals = limits.signal === undefined ? [timeout] : [timeout, limits.signal];
  const signal = AbortSignal.any(signals);
  try {
    return await follow(new URL(address), limits, signal);
  } catch (error) {
    if (error instanceof TorznabFault) throw error;
    if (limits.signal?.aborted) throw limits.signal.reason;
    if (timeout.aborted) throw timeoutFault(limits);
    throw networkFault(error);
  }
}

async function follow(start: URL, limits: RequestLimits, signal: AbortSignal): Promise<Response> {
  let url = start;
  for (let redirects = 0; ; redirects++) {
    const message = await open(url, limits, signal);
    const { statusCode: status = 0, headers } = message;
    const isRedirect = status >= 300 && status < 400 && headers.location !== undefined;
    const base = url.origin + url.pathname;
    if (!isRedirect) {
      return { status, headers, bytes: await collect(message, limits, signal), base };
    }
    message.destroy();
    if (headers.location!.startsWith("magnet:")) {
      return { status, headers, bytes: new Uint8Array(0), base, magnet: headers.location! };
    }
    if (redirects === REDIRECTS_MAX) {
      throw new TorznabFault(`over ${REDIRECTS_MAX} redirects`, { kind: "redirects" });
    }
    url = redirected(headers.location!, url);
  }
}

function redirected(location: string, from: URL): URL {
  try {
    return new URL(location, from);
  } catch {
    throw new TorznabFault("it redirects to what is no address", { kind: "redirects" });
  }
}

async function open(
  url: URL,
  { trusted, resolve = resolveHost }: RequestLimits,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const options: RequestOptions = {
    signal,
    agent: false,
    headers: { "accept-encoding": "gzip, deflate", "user-agent": "sluice-torznab" },
  };
  if (url.host !== trusted) options.lookup = pinned(await publicAddresses(url, resolve));
  const get = url.protocol === "https:" ? httpsGet : httpGet;
  return new Promise((ready, fail) => {
    get(url, options, ready).on("error", fail);
  });
}

/** Counts what comes out of the decompression, so that a small bomb is a large body. */
async function collect(
  message: IncomingMessage,
  { bytesMax }: RequestLimits,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const stream = decompressed(message);
  const stop = (): void => void stream.destroy(new Error("aborted"));
  signal.addEventListener("abort", stop, { once: true });
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of stream) {
      length += (chunk as Buffer).length;
      if (length > bytesMax) throw tooLarge(bytesMax);
      chunks.push(chunk as Buffer);
    }
  } finally {
    signal.removeEventListener("abort", stop);
    message.destroy();
  }
  return Buffer.concat(chunks);
}

function decompressed(message: IncomingMessage): Readable {
  const encoding = (message.headers["content-encoding"] ?? "identity").toLowerCase();
  if (encoding === "identity") return message;
  if (encoding !== "gzip" && encoding !== "x-gzip" && encoding !== "deflate") {
    message.destroy();
    const name = JSON.stringify(encoding.slice(0, 40));
    throw new TorznabFault(`the answer has the encoding ${name}`, { kind: "encoding" });
  }
  const unpacked = encoding === "deflate" ? createInflate() : createGunzip();
  message.on("error", (error) => unpacked.destroy(error));
  // A connection that breaks in the middle ends the message without an error.
  message.on(
    "close",
    () => message.complete || unpacked.destroy(new Error("the answer broke off")),
  );
  return message.pipe(unpacked);
}

function tooLarge(bytesMax: number): TorznabFault {
  const message = `the answer is over ${bytesMax} bytes`;
  return new TorznabFault(message, { kind: "too_large", penalty: "ladder" });
}

function timeoutFault({ timeoutMs, isFullTime }: RequestLimits): TorznabFault {
  const penalty = isFullTime ? "ladder" : "none";
  const options = { kind: "timeout", status: "timeout", penalty } as const;
  return new TorznabFault(`no answer within ${Math.round(timeoutMs)} ms`, options);
}

/** Only the code is told: a message may hold what was asked for. */
function networkFault(error: unknown): TorznabFault {
  const code = (error as { code?: unknown }).code;
  const said = typeof code === "string" && /^[A-Z0-9_]{1,40}$/.test(code) ? code : "unknown error";
  return new TorznabFault(`the connection failed: ${said}`, { kind: "network", penalty: "ladder" });
}
