/**
 * Entries of the keyed stores beside the queues, one by one and in batches. The store that policies
 * read has an address of its own.
 */
import { type ScanOptions, SluiceError, type StoreEntry } from "@sluice/protocol";
import type { FastifyInstance } from "fastify";
import { BodyShape, MEMBERS } from "../body/parse-body.ts";
import { CONFIG_STORE } from "../keys/rights.ts";
import { BATCH_MAX, BODY_BYTES_HARD_MAX, STORE_PAGE_MAX, VALUE_BODY_BYTES_MAX } from "../limits.ts";
import { operationOf, type RouteContext } from "./context.ts";
import { checkDepth } from "./held.ts";
import { route } from "./route.ts";
import {
  ANYTHING,
  answers,
  CURSOR,
  DONE,
  ENTRY,
  limit,
  list,
  NAME,
  object,
  page,
  type Schema,
} from "./shapes.ts";

const KEY: Schema = { type: "string", minLength: 1, maxLength: 1024 };

const BATCH = new BodyShape({ items: "entries" });

export function storeRoutes(app: FastifyInstance, context: RouteContext): void {
  const entry = object({ key: KEY, value: ANYTHING }, ["key"]);
  route<{ Params: { store: string }; Body: { entries: readonly StoreEntry[] } }>(
    app,
    "storeWrite",
    {
      description: "An entry without a value is deleted.",
      config: { body: BATCH },
      bodyLimit: BODY_BYTES_HARD_MAX,
      body: object({ entries: list(entry, { maxItems: BATCH_MAX }) }, ["entries"]),
      response: DONE,
      handler: async (request, reply) => {
        const { entries } = request.body;
        for (const { value } of entries) checkDepth("value", value);
        const written = entries.map(({ key, value }) => ({ key, value }));
        const { store } = request.params;
        await context.broker(request).storeWrite(store, written, operationOf(request));
        return reply.code(204).send();
      },
    },
  );
  route<{ Querystring: ScanOptions }>(app, "GET /v1/config", {
    about: ["listConfig", "store", "Lists the values that policies read by key, by page."],
    querystring: object({ prefix: KEY, limit: limit(STORE_PAGE_MAX), cursor: CURSOR }),
    response: answers(page(ENTRY)),
    handler: (request) => context.broker(request).storeScan(CONFIG_STORE, request.query),
  });
  entryRoutes(app, context, "/v1/stores/:store/:key", ["Stored", "a value of a store."]);
  entryRoutes(app, context, "/v1/config/:key", ["Config", "a value that policies read."]);
}

interface OnEntry {
  Params: { store?: string; key: string };
}

function entryRoutes(
  app: FastifyInstance,
  context: RouteContext,
  url: `/${string}`,
  [what, value]: readonly [what: string, value: string],
): void {
  const isNamed = url.includes(":store");
  const params = isNamed
    ? object({ store: NAME, key: KEY }, ["store", "key"])
    : object({ key: KEY }, ["key"]);
  const told = (verb: string, says: string) =>
    ({ about: [`${verb}${what}`, "store", `${says} ${value}`], params }) as const;
  route<OnEntry>(app, isNamed ? "storeGet" : `GET ${url}`, {
    ...(isNamed ? { params } : told("get", "Reads")),
    response: answers(ENTRY),
    handler: async (request) => {
      const { store = CONFIG_STORE, key } = request.params;
      const [value] = await context.broker(request).storeGet(store, [key]);
      if (value !== undefined) return { key, value };
      const details = { field: "key" };
      throw new SluiceError("NOT_FOUND", `store ${store} has nothing under ${key}`, details);
    },
  });
  route<OnEntry & { Body: { value: unknown } }>(app, `PUT ${url}`, {
    ...told("put", "Sets"),
    config: { body: MEMBERS },
    bodyLimit: VALUE_BODY_BYTES_MAX,
    body: object({ value: ANYTHING }, ["value"]),
    response: DONE,
    handler: async (request, reply) => {
      const { store = CONFIG_STORE, key } = request.params;
      const { value } = request.body;
      checkDepth("value", value);
      await context.broker(request).storeWrite(store, [{ key, value }], operationOf(request));
      return reply.code(204).send();
    },
  });
  route<OnEntry>(app, `DELETE ${url}`, {
    ...told("delete", "Removes"),
    response: DONE,
    handler: async (request, reply) => {
      const { store = CONFIG_STORE, key } = request.params;
      const entry = { key, value: undefined };
      await context.broker(request).storeWrite(store, [entry], operationOf(request));
      return reply.code(204).send();
    },
  });
}
