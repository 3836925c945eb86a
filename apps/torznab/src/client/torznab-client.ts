/** Talks Torznab to one indexer at a time: caps, searches, downloads. */

import type { LookupFunction } from "node:net";
import { DOWNLOAD_BYTES_MAX } from "../limits.ts";
import { redact } from "../redact.ts";
import type { ListedIndexer, XmlAnswer } from "../xml/read-answer.ts";
import type { Caps } from "../xml/read-caps.ts";
import type { Feed } from "../xml/read-feed.ts";
import type { XmlReader } from "../xml/reader.ts";
import { XmlRefused } from "../xml/refused.ts";
import { type RequestLimits, type Response, request } from "./request.ts";
import { type Answered, faultOfCode, faultOfStatus, TorznabFault } from "./torznab-fault.ts";

/** Where an indexer is, and its key. */
export interface Endpoint {
  readonly url: string;
  readonly apiKey: string;
  /** Former keys: they are taken out of what the indexer says too. */
  readonly oldKeys?: readonly string[] | undefined;
}

export interface ClientOptions {
  readonly reader: Pick<XmlReader, "read">;
  readonly timeoutMs: number;
  readonly bytesMax: number;
  readonly now: () => number;
  readonly lookup?: LookupFunction | undefined;
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Less than the usual time, when a user waits. */
  readonly timeoutMs?: number | undefined;
}

export type Downloaded =
  | { readonly kind: "file"; readonly type: "torrent" | "nzb"; readonly bytes: Uint8Array }
  | { readonly kind: "magnet"; readonly magnet: string };

/** A torrent file is one: the letter that begins it. */
const BENCODED_MAP = 0x64;

/** As much of a document as names its root, behind a declaration and a document type. */
const ROOT_BYTES = 1_024;

function typeOf(bytes: Uint8Array): "torrent" | "nzb" | undefined {
  if (bytes[0] === BENCODED_MAP) return "torrent";
  const head = Buffer.from(bytes.subarray(0, ROOT_BYTES)).toString("latin1");
  return /^[^<]{0,3}(\s*<[?!][^>]*>)*\s*<nzb[\s>]/.test(head) ? "nzb" : undefined;
}

export class TorznabClient {
  readonly #options: ClientOptions;

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  async caps(endpoint: Endpoint, call: CallOptions = {}): Promise<Caps> {
    const answer = await this.#ask(endpoint, new URLSearchParams({ t: "caps" }), call);
    if (answer.kind === "caps") return answer.caps;
    throw new TorznabFault("it answers caps with a feed", { kind: "unexpected" });
  }

  async search(endpoint: Endpoint, params: URLSearchParams, call: CallOptions = {}): Promise<Feed> {
    const answer = await this.#ask(endpoint, params, call);
    if (answer.kind === "feed") return answer.feed;
    throw new TorznabFault("it answers a search with its caps", { kind: "unexpected" });
  }

  /** All indexers of a Jackett. */
  async indexers(endpoint: Endpoint, call: CallOptions = {}): Promise<ListedIndexer[]> {
    const params = new URLSearchParams({ t: "indexers", configured: "true" });
    const answer = await this.#ask(endpoint, params, call);
    if (answer.kind === "indexers") return answer.indexers;
    throw new TorznabFault("it does not list its indexers", { kind: "unexpected" });
  }

  /** The same for a release that is known by its id: the Newznab function `get`. */
  get(endpoint: Endpoint, id: string, call: CallOptions = {}): Promise<Downloaded> {
    return this.download(
      endpoint,
      addressOf(endpoint, new URLSearchParams({ t: "get", id })),
      call,
    );
  }

  /** A torrent or NZB file, or the magnet link that the indexer sends instead of it. */
  async download(endpoint: Endpoint, link: string, call: CallOptions = {}): Promise<Downloaded> {
    try {
      const response = await request(link, this.#limits(endpoint, call, DOWNLOAD_BYTES_MAX));
      if (response.magnet !== undefined) return { kind: "magnet", magnet: response.magnet };
      const type = typeOf(response.bytes);
      if (type === undefined || response.status >= 400) throw await this.#downloadFault(response);
      return { kind: "file", type, bytes: response.bytes };
    } catch (error) {
      throw clean(error, endpoint);
    }
  }

  async #downloadFault(response: Response): Promise<unknown> {
    const { status } = response;
    try {
      await this.#read(response);
    } catch (fault) {
      const isGone = fault instanceof TorznabFault && fault.kind === "http" && status === 404;
      // One torrent is missing: the indexer is well.
      return isGone ? new TorznabFault(fault.message, { kind: "http", httpStatus: status }) : fault;
    }
    return new TorznabFault("the link gives a document, and neither a torrent nor an NZB file", {
      kind: "unexpected",
    });
  }

  async #ask(endpoint: Endpoint, params: URLSearchParams, call: CallOptions): Promise<XmlAnswer> {
    const { bytesMax } = this.#options;
    try {
      const limits = this.#limits(endpoint, call, bytesMax);
      const inTime = AbortSignal.timeout(limits.timeoutMs);
      const response = await request(addressOf(endpoint, params), limits);
      if (response.status >= 300 && response.status < 400) throw redirected(response);
      return await this.#read(response, inTime);
    } catch (error) {
      throw clean(error, endpoint);
    }
  }

  /** The body first: an error element says more than the status, and comes with any. */
  async #read(response: Response, inTime?: AbortSignal): Promise<XmlAnswer> {
    const { status: httpStatus, headers, bytes, base } = response;
    const retryAfter = headers["retry-after"];
    const answered: Answered = { httpStatus, retryAfter, now: this.#options.now() };
    let answer: XmlAnswer;
    try {
      const contentType = headers["content-type"];
      answer = await this.#options.reader.read({ bytes, contentType, base }, inTime);
    } catch (error) {
      if (inTime?.aborted) throw unread();
      if (!(error instanceof XmlRefused)) throw error;
      if (httpStatus >= 400) throw faultOfStatus(answered, error.message);
      throw new TorznabFault(error.message, { kind: error.kind, httpStatus, penalty: "ladder" });
    }
    if (answer.kind === "error") throw faultOfCode(answer, answered);
    if (httpStatus >= 400) throw faultOfStatus(answered, "");
    return answer;
  }

  #limits({ url }: Endpoint, call: CallOptions, bytesMax: number): RequestLimits {
    const { timeoutMs, lookup } = this.#options;
    const isFullTime = (call.timeoutMs ?? timeoutMs) >= timeoutMs;
    return {
      timeoutMs: isFullTime ? timeoutMs : call.timeoutMs!,
      isFullTime,
      bytesMax,
      signal: call.signal,
      trusted: new URL(url).host,
      lookup,
    };
  }
}

/** The answers of others were read first: nothing that the indexer could help. */
function unread(): TorznabFault {
  const options = { kind: "timeout", status: "timeout" } as const;
  return new TorznabFault("its answer came too late to be read in time", options);
}

/** Redirects within HTTP were followed already. */
function redirected({ status, headers }: Response): TorznabFault {
  const scheme = /^[a-z][a-z0-9+.-]{0,20}:/i.exec(headers.location ?? "")?.[0] ?? "nowhere";
  const text = `it redirects to ${scheme}, where no answer can be read`;
  return new TorznabFault(text, { kind: "redirects", httpStatus: status, penalty: "ladder" });
}

/** The protocol's path is `api`, below whatever address the user copied. */
function addressOf({ url, apiKey }: Endpoint, params: URLSearchParams): string {
  const address = new URL(url);
  if (!/\/api$/.test(address.pathname)) {
    address.pathname = `${address.pathname.replace(/\/$/, "")}/api`;
  }
  for (const [name, value] of params) address.searchParams.set(name, value);
  if (apiKey !== "") address.searchParams.set("apikey", apiKey);
  return address.href;
}

/** An indexer may repeat its key in what it says. */
function clean(error: unknown, { apiKey, oldKeys = [] }: Endpoint): unknown {
  if (!(error instanceof TorznabFault)) return error;
  const secrets = [apiKey, ...oldKeys];
  error.message = redact(error.message, secrets);
  // The message is also at the head of the stack.
  error.stack = redact(error.stack ?? "", secrets);
  return error;
}
