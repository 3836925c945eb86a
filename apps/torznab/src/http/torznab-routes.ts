/**
 * Our own Torznab endpoint, so that other programs sit behind the limiter: all indexers as one, or
 * each by itself. Answers and errors are XML, as its clients want them.
 */
import type { FastifyReply, FastifyRequest } from "fastify";
import { SluiceError } from "sluice";
import type { FixedKeys, HttpApp } from "sluice/http";
import { parseQuery, QueryError } from "../client/query.ts";
import { GUID_CHARS_MAX, PAGE_ITEMS_MAX, PAGE_ITEMS_USUAL } from "../limits.ts";
import { isPriority, PRIORITIES, type Priority } from "../scheduler/priority.ts";
import { ownCaps } from "../service/own-caps.ts";
import type { Failure, Report, Search } from "../service/search.ts";
import type { TorznabService } from "../service/service.ts";
import { downloadError } from "./download-error.ts";
import { renderCaps, renderError, renderFeed, renderIndexers } from "./render.ts";
import { described, torznabSchema } from "./schemas.ts";
import { sendDownload } from "./send-download.ts";

export interface TorznabRoutes {
  readonly service: TorznabService;
  readonly keys: FixedKeys | undefined;
}

interface Asked {
  Params: { indexer?: string };
  Querystring: Record<string, unknown>;
}

const TITLE = "Sluice Torznab";

/** An answer that is an error, in the protocol's numbers. */
class ApiError extends Error {
  readonly code: number;
  readonly status: number;
  readonly retryAfterMs: number;

  constructor(code: number, status: number, message: string, retryAfterMs = 0) {
    super(message);
    this.code = code;
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Some clients add `/api` to whatever address they are given. */
const ADDRESSES = [
  ["/api", "torznab"],
  ["/api/:indexer", "torznabOfOne"],
  ["/api/:indexer/api", "torznabOfOneBelow"],
  // Clients that know only Jackett's addresses; some leave the last part out.
  ["/api/v2.0/indexers/:indexer/results/torznab", "torznabAsJackett"],
  ["/api/v2.0/indexers/:indexer/results/torznab/api", "torznabAsJackettBelow"],
  // The same for usenet: its clients would not know what to do with a torrent.
  ["/newznab/api", "newznab"],
  ["/newznab/:indexer", "newznabOfOne"],
  ["/newznab/:indexer/api", "newznabOfOneBelow"],
] as const;

/** Addresses without an indexer in them. */
const OF_ALL: readonly string[] = ["/api", "/newznab/api"];

export function torznabRoutes(app: HttpApp, routes: TorznabRoutes): void {
  for (const [url, name] of ADDRESSES) {
    const schema = torznabSchema(name, !OF_ALL.includes(url));
    const kind = url.startsWith("/newznab") ? "newznab" : "torznab";
    // The key is asked for here, because these clients send it in the query.
    const options = { ...described(schema), config: { isPublic: true } };
    app.get<Asked>(url, options, async (request, reply) => {
      reply.type("application/rss+xml; charset=utf-8");
      try {
        return await answer(routes, kind, request, reply);
      } catch (error) {
        return refuse(reply, toApiError(error));
      }
    });
  }
}

/** A request that is too long to be read: for these addresses too the answer is XML. */
export function brokenRequest(broken: {
  readonly status: number;
  readonly message: string;
  readonly head: string;
}): { type: string; body: string } | undefined {
  if (!/^GET \/(api|newznab)\b/.test(broken.head)) return undefined;
  const body = renderError(broken.status === 431 ? 201 : 900, broken.message);
  return { type: "application/xml; charset=utf-8", body };
}

async function answer(
  { service, keys }: TorznabRoutes,
  kind: Kind,
  request: FastifyRequest<Asked>,
  reply: FastifyReply,
): Promise<string | FastifyReply> {
  const given = lowerCase(request.query);
  checkKey(keys, given.get("apikey") ?? request.headers["x-api-key"] ?? bearerOf(request));
  const { indexers } = service.parts;
  const indexer = chosenOf(request.params.indexer, service);
  const ofKind = indexers.all.filter((one) => (one.kind ?? "torznab") === kind);
  const records = indexer === undefined ? ofKind : [indexers.get(indexer)];
  if (given.get("t")?.toLowerCase() === "caps") {
    reply.type("application/xml; charset=utf-8");
    return renderCaps(ownCaps(indexer === undefined ? TITLE : records[0]!.name, records));
  }
  if (given.get("t")?.toLowerCase() === "indexers") {
    reply.type("application/xml; charset=utf-8");
    return renderIndexers(records.map((one) => ({ id: one.id, caps: ownCaps(one.name, [one]) })));
  }
  if (given.get("t")?.toLowerCase() === "get") {
    const { indexer: from, file } = await service
      .downloadByGuid(guidOf(given.get("id")), records)
      .catch((error) => {
        throw toGetError(downloadError(error));
      });
    return sendDownload(reply, from, file);
  }
  const { limit = PAGE_ITEMS_USUAL, offset = 0, ...rest } = parseQuery(request.query);
  const query = { ...rest, offset, limit: Math.min(limit, PAGE_ITEMS_MAX) };
  const search = service.search({
    query,
    indexers: records.map(({ id }) => id),
    priority: priorityOf(given.get("priority")),
  });
  await ended(service, search, reply);
  const failure = search.failure();
  if (failure !== undefined) throw failed(failure);
  service.parts.recent.note(search.page().releases);
  return renderPage(search, originOf(request, service), kind, service.parts.clock.now());
}

function guidOf(id: string | undefined): string {
  if (id === undefined || id === "") throw new ApiError(200, 400, "Missing parameter: id");
  if (id.length <= GUID_CHARS_MAX) return id;
  throw new QueryError("id", `a text of ${GUID_CHARS_MAX} characters at most`, id);
}

/** Why a download did not come, in the protocol's numbers. */
function toGetError(error: unknown): unknown {
  if (!(error instanceof SluiceError)) return error;
  const { code, message, retryAfterMs } = error;
  if (code === "NOT_FOUND") return new ApiError(300, 404, message);
  if (code === "RATE_LIMITED")
    return new ApiError(429, 429, message, Math.max(1_000, retryAfterMs ?? 0));
  if (code === "CONFLICT") return new ApiError(203, 409, message);
  if (code === "TIMEOUT" || code === "DISCONNECTED") return new ApiError(900, 502, message);
  return error;
}

/** Answers when the search is done, or when the caller has left. */
async function ended(service: TorznabService, search: Search, reply: FastifyReply): Promise<void> {
  const gone = Promise.withResolvers<void>();
  reply.raw.once("close", gone.resolve);
  try {
    await Promise.race([search.done, gone.promise]);
  } finally {
    reply.raw.off("close", gone.resolve);
    service.release(search);
  }
}

type Kind = "torznab" | "newznab";

function renderPage(search: Search, origin: string, kind: Kind, now: number): string {
  const { releases, total } = search.page();
  const offset = search.facts.page?.offset ?? 0;
  const gaps = search.reports.map(gapOf).filter((gap) => gap !== undefined);
  const description = gaps.length === 0 ? TITLE : `${TITLE}. Incomplete: ${gaps.join("; ")}`;
  return renderFeed({ kind, title: TITLE, description, releases, offset, total, origin, now });
}

/** Where the client reaches this service: what was set, else the address that it calls. */
export function originOf(request: FastifyRequest, { parts }: TorznabService): string {
  return parts.settings.publicUrl ?? `${request.protocol}://${request.host}`;
}

/** Why a feed lacks releases of an indexer; undefined when it does not. */
function gapOf({ name, status, count, more, error }: Report): string | undefined {
  if (status !== "ok" && status !== "empty") {
    return `${name}: ${status}${error === undefined ? "" : `, ${error}`}`;
  }
  if (error === undefined || more === undefined) return undefined;
  return `${name}: only the first ${count} releases, ${error}`;
}

function priorityOf(value: string | undefined): Priority | undefined {
  if (value === undefined || isPriority(value)) return value;
  throw new QueryError("priority", `one of ${PRIORITIES.join(", ")}`, value);
}

/** `all` is Jackett's name for all of them, unless an indexer has that id. */
function chosenOf(id: string | undefined, { parts }: TorznabService): string | undefined {
  return id === "all" && parts.indexers.find(id) === undefined ? undefined : id;
}

function bearerOf({ headers }: FastifyRequest): string | undefined {
  return /^Bearer +(\S+)$/i.exec(headers.authorization ?? "")?.[1];
}

function checkKey(keys: FixedKeys | undefined, given: unknown): void {
  if (keys === undefined) return;
  if (typeof given === "string" && keys.has(given)) return;
  throw new ApiError(100, 401, given === undefined ? "Missing API key" : "Incorrect API key");
}

/** Nothing answered: the real failure, else when to come again. */
function failed({ kind, text, retryAfterMs }: Failure): ApiError {
  if (kind === "limited") return new ApiError(429, 429, text, Math.max(1_000, retryAfterMs));
  if (kind === "stopped") return new ApiError(910, 503, text);
  if (kind === "skipped") return new ApiError(203, 400, text);
  return new ApiError(900, 502, text);
}

function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof QueryError) {
    const isFunction = error.field === "t";
    return new ApiError(isFunction ? 202 : 201, 400, error.message);
  }
  if (error instanceof SluiceError && error.code === "NOT_FOUND") {
    return new ApiError(201, 404, error.message);
  }
  if (error instanceof SluiceError && error.code === "QUEUE_FULL") {
    return new ApiError(429, 429, error.message, error.retryAfterMs);
  }
  if (error instanceof SluiceError && error.code === "CLOSED") {
    return new ApiError(910, 503, "the service is closing");
  }
  throw error;
}

function refuse(reply: FastifyReply, { code, status, message, retryAfterMs }: ApiError): string {
  if (retryAfterMs > 0) reply.header("retry-after", String(Math.ceil(retryAfterMs / 1_000)));
  reply.code(status).type("application/xml; charset=utf-8");
  return renderError(code, message);
}

function lowerCase(query: Readonly<Record<string, unknown>>): Map<string, string> {
  const entries = Object.entries(query).map(([name, value]): [string, string] => {
    return [name.toLowerCase(), String(Array.isArray(value) ? value[0] : value)];
  });
  return new Map(entries);
}
