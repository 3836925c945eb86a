/** The JSON API: indexers, searches, and the current activity. */
import { SluiceError } from "sluice";
import type { HttpApp } from "sluice/http";
import { HISTORY_PAGE_MAX } from "../limits.ts";
import { activityOf } from "../service/activity.ts";
import { budgetOf, forecast } from "../service/forecast.ts";
import type { IndexerRecord } from "../service/indexers.ts";
import type { Search } from "../service/search.ts";
import type { TorznabService } from "../service/service.ts";
import { tryOut } from "../service/try-out.ts";
import { bool, whole } from "../settings/fields.ts";
import { parseChange, parseIndexer } from "../settings/indexer-input.ts";
import { downloadError } from "./download-error.ts";
import { described, SCHEMAS } from "./schemas.ts";
import { parseRequest } from "./search-request.ts";
import { sendDownload } from "./send-download.ts";
import { streamSearch } from "./stream-search.ts";

interface WithId {
  Params: { id: string };
}

const HISTORY_PAGE = 100;

export function jsonRoutes(app: HttpApp, service: TorznabService, closing: AbortSignal): void {
  indexerRoutes(app, service);
  searchRoutes(app, service, closing);
  app.get("/activity", described(SCHEMAS.getActivity), () => activityOf(service));
  app.get<{ Querystring: { indexer?: string; limit?: string } }>(
    "/history",
    described(SCHEMAS.getHistory),
    ({ query }) => {
      const limit = whole("limit", query.limit ?? HISTORY_PAGE, 1, HISTORY_PAGE_MAX);
      return { rows: service.parts.history.rows({ indexer: query.indexer, limit }) };
    },
  );
  app.get<WithId & { Querystring: { token?: string } }>(
    "/download/:id",
    // The token is the permission: only we can have made it.
    { ...described(SCHEMAS.download), config: { isPublic: true } },
    async ({ params, query }, reply) => {
      const file = await service.download(params.id, query.token ?? "").catch((error) => {
        throw downloadError(error);
      });
      return sendDownload(reply, params.id, file);
    },
  );
}

function indexerRoutes(app: HttpApp, service: TorznabService): void {
  const { indexers } = service.parts;
  app.get("/indexers", described(SCHEMAS.listIndexers), async () => ({
    indexers: await Promise.all(indexers.all.map((record) => shown(service, record))),
  }));
  app.post<{ Querystring: { test?: string } }>(
    "/indexers",
    described(SCHEMAS.addIndexer),
    async ({ body, query }, reply) => {
      const isTested = bool("test", query.test ?? true);
      const record = await indexers.add(parseIndexer("indexer", body));
      const test = isTested ? { test: await tryOut(service, record.id) } : {};
      const answer = { ...(await shown(service, indexers.get(record.id))), ...test };
      return reply.code(201).send(answer);
    },
  );
  app.get<WithId>("/indexers/:id", described(SCHEMAS.getIndexer), ({ params }) =>
    shown(service, indexers.get(params.id)),
  );
  app.patch<WithId>("/indexers/:id", described(SCHEMAS.changeIndexer), async ({ params, body }) => {
    refuseOfSettings(indexers.get(params.id));
    return shown(service, await service.change(params.id, parseChange("indexer", body)));
  });
  app.delete<WithId>(
    "/indexers/:id",
    described(SCHEMAS.removeIndexer),
    async ({ params }, reply) => {
      refuseOfSettings(indexers.get(params.id));
      await service.remove(params.id);
      return reply.code(204).send();
    },
  );
  indexerVerbs(app, service);
}

function indexerVerbs(app: HttpApp, service: TorznabService): void {
  const { indexers } = service.parts;
  app.post<WithId>("/indexers/:id/test", described(SCHEMAS.testIndexer), async ({ params }) => ({
    test: await tryOut(service, params.id),
  }));
  app.post<WithId>("/indexers/:id/pause", described(SCHEMAS.pauseIndexer), async ({ params }) =>
    shown(service, await indexers.change(params.id, { enabled: false })),
  );
  app.post<WithId>("/indexers/:id/resume", described(SCHEMAS.resumeIndexer), async ({ params }) =>
    shown(service, await indexers.change(params.id, { enabled: true })),
  );
  app.post<WithId>("/indexers/:id/reset", described(SCHEMAS.resetIndexer), async ({ params }) => {
    await service.reset(params.id);
    return shown(service, indexers.get(params.id));
  });
  app.get<WithId>("/indexers/:id/budget", described(SCHEMAS.getBudget), ({ params }) =>
    budgetOf(service, indexers.get(params.id)),
  );
}

/** The next start would bring back what the file says. */
function refuseOfSettings({ id, source }: IndexerRecord): void {
  if (source !== "settings") return;
  const message = `${id} is defined in the settings file; change it there`;
  throw new SluiceError("CONFLICT", message, { field: "id", value: id });
}

function searchRoutes(app: HttpApp, service: TorznabService, closing: AbortSignal): void {
  app.post("/search", described(SCHEMAS.search), async ({ body }, reply) => {
    const search = await service.searchDurably(parseRequest(body));
    return reply.code(202).send(status(search));
  });
  app.post("/forecast", described(SCHEMAS.forecast), async ({ body }) => ({
    indexers: await forecast(service, parseRequest(body)),
  }));
  app.get<WithId>("/search/:id", described(SCHEMAS.getSearch), ({ params }) => {
    const search = service.find(params.id);
    return { ...status(search), ...search.page() };
  });
  app.delete<WithId>("/search/:id", described(SCHEMAS.cancelSearch), async ({ params }, reply) => {
    await service.cancel(params.id);
    return reply.code(204).send();
  });
  app.get<WithId>(
    "/search/:id/events",
    described(SCHEMAS.streamSearch),
    async ({ params }, reply) => {
      const search = service.find(params.id);
      reply.hijack();
      await streamSearch(search, reply.raw, closing);
    },
  );
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
  const { sealedKey: _, sealedOldKeys: _old, caps, ...rest } = record;
  const { indexers, history } = service.parts;
  const budget = await budgetOf(service, record);
  const cooling = budget.cooldown && `cooling down: ${budget.cooldown.reason}`;
  return {
    ...rest,
    hasKey: indexers.endpoint(record).apiKey !== "",
    state: indexers.whyNot(record) ?? cooling ?? "open",
    modes: caps?.modes,
    budget,
    last: history.last(record.id),
  };
}
