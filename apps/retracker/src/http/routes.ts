/** Which path does what. */

import { hash, timingSafeEqual } from "node:crypto";
import type { BlockList } from "node:net";
import type { Settings } from "../settings/settings.ts";
import { metricsText } from "../statistics/metrics.ts";
import type { Statistics } from "../statistics/statistics.ts";
import { statisticsText } from "../statistics/text.ts";
import type { Tracker } from "../tracker.ts";
import { isLoopback, isWithin, packAddress } from "../wire/address.ts";
import type { Refused } from "../wire/announce.ts";
import { announceBody, failureBody, scrapeBody } from "./announce-body.ts";
import { headerOf } from "./head.ts";
import type { HttpRequest } from "./http-connection.ts";
import { BadRequest, type HttpAnnounce, parseAnnounce, parseScrape } from "./parse-announce.ts";
import { isAnnouncePath, isScrapePath, keyOf } from "./paths.ts";
import { eachPair, unescapeBytes } from "./query.ts";
import {
  bencodedResponse,
  bytesOf,
  type HttpResponse,
  jsonResponse,
  textResponse,
} from "./response.ts";

export interface RouteParts {
  readonly settings: Settings;
  readonly tracker: Tracker;
  /** Marks requests that we have sent ourselves. */
  readonly instance: string;
  /** Whose claim of an address is believed. */
  readonly trusted: BlockList | undefined;
  /** Whose headers about the real address are believed. */
  readonly proxies: BlockList | undefined;
  /** Undefined when who shows this key may announce; no key is an empty text. */
  admit(key: string): Refused | undefined;
  /** The same question, without counting an announce. */
  isKnown(key: string): boolean;
  statistics(): Promise<Statistics>;
  /** In the form of bittorrent-tracker. */
  statisticsJson(): Promise<object>;
  isHealthy(): boolean;
}

export class Routes {
  readonly #parts: RouteParts;

  constructor(parts: RouteParts) {
    this.#parts = parts;
  }

  /** The path of a client that wants WebSocket: that of an announce, or the root. */
  mayUpgrade({ path }: HttpRequest): boolean {
    const key = keyOf(path);
    return (path === "/" || key !== undefined) && this.#parts.isKnown(key ?? "");
  }

  /** The tracker itself, with statistics where they have no address of their own. */
  answer(request: HttpRequest): HttpResponse | Promise<HttpResponse> {
    const { path } = request;
    try {
      if (isAnnouncePath(path)) return this.#announce(request);
      if (isScrapePath(path)) return this.#scrape(request);
    } catch (error) {
      if (!(error instanceof BadRequest)) throw error;
      return bencodedResponse(failureBody({ failure: error.message }));
    }
    if (path === "/favicon.ico") return { status: 204, type: "text/plain", body: "" };
    if (path === "/") return textResponse(200, "A BitTorrent tracker: announce to /announce.");
    if (this.#parts.settings.stats_listen !== "") return textResponse(404, "no such page");
    return this.answerStatistics(request);
  }

  /** Statistics, metrics and health. */
  answerStatistics(
    request: HttpRequest,
    isOwnAddress = false,
  ): HttpResponse | Promise<HttpResponse> {
    const { path } = request;
    if (path === "/healthz") {
      return this.#parts.isHealthy() ? textResponse(200, "ok") : textResponse(503, "failed");
    }
    if (path !== "/stats" && path !== "/stats.json" && path !== "/metrics")
      return textResponse(404, "no such page");
    if (!this.#maySee(request, isOwnAddress)) {
      return textResponse(
        403,
        "statistics are served to this machine, or with the token: ?token=TOKEN",
      );
    }
    if (path === "/stats.json") return this.#parts.statisticsJson().then(jsonResponse);
    return path === "/stats" ? this.#stats(request) : this.#metrics();
  }

  #announce(request: HttpRequest): HttpResponse | Promise<HttpResponse> {
    const { tracker, settings, trusted } = this.#parts;
    if (request.mark === this.#parts.instance) {
      throw new BadRequest("this tracker forwards to itself");
    }
    const refused = this.#parts.admit(keyOf(request.path) ?? "");
    if (refused !== undefined) return bencodedResponse(failureBody(refused));
    const from = this.#realAddress(request);
    const announce = parseAnnounce(request.query, from);
    const { isCompact, noPeerId } = announce;
    if (trusted !== undefined && isWithin(trusted, from)) this.#believe(announce);
    const form = { isCompact, noPeerId, from, trackerId: settings.tracker_id };
    const answer = tracker.announce(announce);
    if (!(answer instanceof Promise)) return bencodedResponse(announceBody(tracker, answer, form));
    return answer.then((later) => bencodedResponse(announceBody(tracker, later, form)));
  }

  /** A client of both families may name its other address (BEP 7): that is a peer too. */
  #believe(announce: HttpAnnounce): void {
    const { claimedAddress, claimedV4, claimedV6 } = announce;
    const isV4 = announce.address.length === 4;
    const own = claimedAddress ?? (isV4 ? claimedV4 : claimedV6);
    if (own !== undefined) announce.address = own;
    for (const address of [claimedV4, claimedV6]) {
      if (address === undefined || address.length === announce.address.length) continue;
      this.#parts.tracker.announceAside({ ...announce, address });
    }
  }

  #scrape(request: HttpRequest): HttpResponse {
    const { tracker } = this.#parts;
    const refused = this.#parts.admit(keyOf(request.path) ?? "");
    if (refused !== undefined) return bencodedResponse(failureBody(refused));
    tracker.scrapes++;
    const { hashes, wantsUpstream } = parseScrape(request.query);
    if (hashes.length > 0) {
      const counts = hashes.map((hash) => [hash, tracker.scrape(hash, wantsUpstream)] as const);
      return bencodedResponse(scrapeBody(new Map(counts)));
    }
    const all = tracker.fullScrape(wantsUpstream);
    if (all === undefined) throw new BadRequest("full scrape is not enabled: name an info_hash");
    return bencodedResponse(scrapeBody(all));
  }

  /** The client's address from a trusted proxy, else that of the connection. */
  #realAddress({ address, raw }: HttpRequest): string {
    const { proxies } = this.#parts;
    if (proxies === undefined || !isWithin(proxies, address)) return address;
    const real = headerOf(raw, "x-real-ip");
    // The last address is the one that the proxy itself has seen.
    const told = real ?? headerOf(raw, "x-forwarded-for")?.split(",").at(-1)?.trim();
    return (told === undefined ? undefined : packAddress(told)) ?? address;
  }

  /** Without a token: this machine, and callers of an address that is for statistics alone. */
  #maySee(request: HttpRequest, isOwnAddress: boolean): boolean {
    const { stats_token: token } = this.#parts.settings;
    if (token === "" && isOwnAddress) return true;
    if (token === "") return isLoopback(request.address) && !isForwarded(request.raw);
    const shown = headerOf(request.raw, "authorization")?.replace(/^Bearer /i, "");
    return isSame(shown ?? fieldOf(request.query, "token"), token);
  }

  async #stats({ query }: HttpRequest): Promise<HttpResponse> {
    const statistics = await this.#parts.statistics();
    if (fieldOf(query, "format") === "json") return jsonResponse(statistics);
    return textResponse(200, statisticsText(statistics));
  }

  async #metrics(): Promise<HttpResponse> {
    const { settings } = this.#parts;
    if (!settings.prometheus_enabled) return textResponse(404, "prometheus_enabled is off");
    const text = metricsText(await this.#parts.statistics(), settings.metrics_prefix);
    const type = "text/plain; version=0.0.4; charset=utf-8";
    return { status: 200, type, body: bytesOf(text) };
  }
}

/** What a proxy on this machine hands on does not come from this machine. */
function isForwarded(raw: string): boolean {
  return ["x-real-ip", "x-forwarded-for", "forwarded"].some(
    (name) => headerOf(raw, name) !== undefined,
  );
}

function fieldOf(query: string, wanted: string): string {
  let found = "";
  eachPair(query, (name, raw) => {
    if (name === wanted) found = unescapeBytes(raw) ?? "";
  });
  return found;
}

/** Digests have one length, so the time of a comparison reveals nothing. */
function isSame(shown: string, token: string): boolean {
  return timingSafeEqual(hash("sha256", shown, "buffer"), hash("sha256", token, "buffer"));
}
