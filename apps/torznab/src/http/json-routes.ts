/** The JSON API: indexers, searches, and what goes on. */
import { SluiceError } from "sluice";
import type { HttpApp } from "sluice/http";
import { parseQuery, QueryError } from "../client/query.ts";
import { redact } from "../client/redact.ts";
import { Fault } from "../scheduler/fault.ts";
import { isPriority, PRIORITIES } from "../scheduler/priority.ts";
import { activityOf } from "../service/activity.ts";
import { budgetOf, forecast } from "../service/forecast.ts";
import type { IndexerRecord } from "../service/indexers.ts";
import type { Search } from "../service/search.ts";
import type { SearchRequest, TorznabService } from "../service/service.ts";
import { durationMs, fieldsOf, invalid, whole } from "../settings/fields.ts";
import { parseChange, parseIndexer } from "../settings/indexer-input.ts";
import { streamSearch } from "./stream-search.ts";

interface WithId {
  Params: { id: string };
}

const HOUR_MS = 3_600_000;

export function jsonRoutes(app: HttpApp, service: TorznabService, closing: AbortSignal): void {
  indexerRoutes(app, service);
  searchRoutes(app, service, closing);
  app.get("/activity", () => activityOf(service));
  app.get<{ Querystring: { indexer?: string; limit?: string } }>("/history", ({ query }) => {
    const limit = whole("limit", query.limit ?? 100, 1, 1_000);
    return { rows: service.parts.history.rows({ indexer: query.indexer, limit }) };
  });
  app.get<WithId & { Querystring: { token?: string } }>(
    "/download/:id",
    // The token is the permission: only we can have made it.
    { config: { isPublic: true } },
    async ({ params, query }, reply) => {
      const file = await failing(() => service.download(params.id, query.token ?? ""));
      if (file.kind === "magnet") return reply.redirect(file.magnet, 302);
      return reply.type(file.contentType).send(Buffer.from(file.bytes));
    },
  );
}

function indexerRoutes(app: HttpApp, service: TorznabService): void {
  const { indexers } = service.parts;
  app.get("/indexers", async () => ({
    indexers: await Promise.all(indexers.all.map((record) => shown(service, record))),
  }));
  app.post<{ Querystring: { test?: string } }>("/indexers", async ({ body, query }, reply) => {
    const record = await indexers.add(parseIndexer("indexer", body));
    const test = query.test === "false" ? undefined : await tried(service, record.id);
    const answer = { ...(await shown(service, indexers.get(record.id))), ...test };
    return reply.code(201).send(answer);
  });
  app.get<WithId>("/indexers/:id", ({ params }) => shown(service, indexers.get(params.id)));
  app.patch<WithId>("/indexers/:id", async ({ params, body }) => {
    if (indexers.get(params.id).source === "settings") {
      const message = `${params.id} stands in the settings file; change it there`;
      throw new SluiceError("CONFLICT", message, { field: "id", value: params.id });
    }
    return shown(service, await service.change(params.id, parseChange("indexer", body)));
  });
  app.delete<WithId>("/indexers/:id", async ({ params }, reply) => {
    await service.remove(params.id);
    return reply.code(204).send();
  });
  app.post<WithId>("/indexers/:id/test", ({ params }) => tried(service, params.id));
  for (const [verb, enabled] of [
    ["pause", false],
    ["resume", true],
  ] as const) {
    app.post<WithId>(`/indexers/:id/${verb}`, async ({ params }) =>
      shown(service, await indexers.change(params.id, { enabled })),
    );
  }
  app.post<WithId>("/indexers/:id/reset", async ({ params }) => {
    await service.reset(params.id);
    return shown(service, indexers.get(params.id));
  });
  app.get<WithId>("/indexers/:id/budget", ({ params }) =>
    budgetOf(service, indexers.get(params.id)),
  );
}

function searchRoutes(app: HttpApp, service: TorznabService, closing: AbortSignal): void {
  app.post("/search", async ({ body }, reply) => {
    const search = await service.searchDurably(parseRequest(body));
    return reply.code(202).send(status(search));
  });
  app.post("/forecast", async ({ body }) => ({
    indexers: await forecast(service, parseRequest(body)),
  }));
  app.get<WithId>("/search/:id", ({ params }) => {
    const search = service.find(params.id);
    return { ...status(search), releases: search.releases() };
  });
  app.delete<WithId>("/search/:id", async ({ params }, reply) => {
    await service.cancel(params.id);
    return reply.code(204).send();
  });
  app.get<WithId>("/search/:id/events", async ({ params }, reply) => {
    const search = service.find(params.id);
    reply.hijack();
    await streamSearch(search, reply.raw, closing);
  });
}

const REQUEST_OWN = ["indexers", "priority", "maxWait", "deadline"] as const;

/** The search's own parameters stand beside ours, as they stand in a URL. */
function parseRequest(body: unknown): SearchRequest {
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw invalid("search", "an object", body);
  }
  const given = body as Record<string, unknown>;
  const own = Object.fromEntries(REQUEST_OWN.map((name) => [name, given[name]]));
  const { indexers, priority, maxWait, deadline } = fieldsOf("search", own, REQUEST_OWN);
  if (priority !== undefined && !isPriority(priority)) {
    throw invalid("search.priority", `one of ${PRIORITIES.join(", ")}`, priority);
  }
  const isList = Array.isArray(indexers) && indexers.every((id) => typeof id === "string");
  if (indexers !== undefined && !isList)
    throw invalid("search.indexers", "a list of ids", indexers);
  return {
    query: queryOf(given),
    indexers: indexers as string[] | undefined,
    priority,
    maxWaitMs: maxWait === undefined ? undefined : durationMs("search.maxWait", maxWait, HOUR_MS),
    deadlineMs:
      deadline === undefined ? undefined : durationMs("search.deadline", deadline, HOUR_MS),
  };
}

function queryOf(given: Record<string, unknown>) {
  try {
    return parseQuery({ ...given, ...(Array.isArray(given.cat) ? { cat: given.cat.join() } : {}) });
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    const { field, value } = error;
    throw new SluiceError("INVALID", error.message, { field, value });
  }
}

function status(search: Search) {
  const { query, priority, createdAt, deadline } = search.facts;
  return {
    id: search.id,
    done: search.isDone,
    ...(search.isDone ? { failure: search.failure()?.text } : {}),
    query,
    priority,
    createdAt,
    deadline,
    indexers: search.reports,
  };
}

/** Everything but the key. */
async function shown(service: TorznabService, record: IndexerRecord) {
  const { sealedKey: _, caps, ...rest } = record;
  const { indexers, history } = service.parts;
  const why = indexers.whyNot(record);
  return {
    ...rest,
    hasKey: indexers.endpoint(record).apiKey !== "",
    state: why ?? "open",
    modes: caps?.modes,
    budget: await budgetOf(service, record),
    last: history.last(record.id),
  };
}

/** A test that fails is an answer, not an error of ours. */
async function tried(service: TorznabService, id: string) {
  try {
    const { title, modes } = await service.test(id);
    return { test: { ok: true, title, modes: Object.keys(modes) } };
  } catch (error) {
    if (error instanceof SluiceError && error.code === "NOT_FOUND") throw error;
    const message = redact(error instanceof Error ? error.message : "it failed");
    return { test: { ok: false, error: message } };
  }
}

async function failing<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof Fault)) throw toLimited(error);
    if (error.penalty !== "limit") throw new SluiceError("TIMEOUT", error.message);
    const { message, retryAfterMs } = error;
    throw new SluiceError("RATE_LIMITED", message, { retryAfterMs });
  }
}

/** Its own limits would have made the download wait too long. */
function toLimited(error: unknown): unknown {
  if (!(error instanceof Error) || error.name !== "RateLimitWaitError") return error;
  const retryAfterMs = (error as Error & { wait: number }).wait;
  return new SluiceError("RATE_LIMITED", error.message, { retryAfterMs });
}
