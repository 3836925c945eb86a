/**
 * Entries of the keyed stores beside the queues, one by one and in batches. The store that policies
 * read has an address of its own.
 */
import { type ScanOptions, SluiceError, type StoreEntry } from "@sluice/protocol";
import type { FastifyInstance } from "fastify";
import { BodyShape, MEMBERS } from "../body/parse-body.ts";
import { CONFIG_STORE } from "../keys/stores.ts";
import { BATCH_MAX, BODY_BYTES_HARD_MAX, STORE_PAGE_MAX, VALUE_BODY_BYTES_MAX } from "../limits.ts";
import { described } from "./call-description.ts";
import { operationOf, type RouteContext } from "./context.ts";
import { checkDepth } from "./held.ts";
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
  app.route<{ Params: { store: string }; Body: { entries: readonly StoreEntry[] } }>({
    method: "POST",
    url: "/v1/stores/:store",
    config: { body: BATCH },
    bodyLimit: BODY_BYTES_HARD_MAX,
    schema: {
      ...described("storeWrite"),
      description: "An entry without a value is deleted.",
      body: object(
        { entries: list(object({ key: KEY, value: ANYTHING }, ["key"]), { maxItems: BATCH_MAX }) },
        ["entries"],
      ),
      response: DONE,
    },
    handler: async (request, reply) => {
      const { entries } = request.body;
      for (const { value } of entries) checkDepth("value", value);
      const written = entries.map(({ key, value }) => ({ key, value }));
      const { store } = request.params;
      await context.broker(request).storeWrite(store, written, operationOf(request));
      return reply.code(204).send();
    },
  });
  app.route<{ Querystring: ScanOptions }>({
    method: "GET",
    url: "/v1/config",
    schema: {
      operationId: "listConfig",
      summary: "Lists the values that policies read by key, by page.",
      tags: ["store"],
      querystring: object({ prefix: KEY, limit: limit(STORE_PAGE_MAX), cursor: CURSOR }),
      response: answers(page(ENTRY)),
    },
    handler: (request) => context.broker(request).storeScan(CONFIG_STORE, request.query),
  });
  entryRoutes(app, context, { url: "/v1/stores/:store/:key", what: "Stored", of: "of a store" });
  entryRoutes(app, context, { url: "/v1/config/:key", what: "Config", of: "that policies read" });
}

interface Entries {
  readonly url: string;
  readonly what: string;
  readonly of: string;
}

interface OnEntry {
  Params: { store?: string; key: string };
}

function entryRoutes(
  app: FastifyInstance,
  context: RouteContext,
  { url, what, of }: Entries,
): void {
  const isNamed = url.includes(":store");
  const params = isNamed
    ? object({ store: NAME, key: KEY }, ["store", "key"])
    : object({ key: KEY }, ["key"]);
  const about = (verb: string, summary: string) => ({
    operationId: `${verb}${what}`,
    summary: `${summary} a value ${of}.`,
    tags: ["store"],
    params,
  });
  app.route<OnEntry>({
    method: "GET",
    url,
    schema: {
      ...(isNamed ? described("storeGet") : about("get", "Reads")),
      params,
      response: answers(ENTRY),
    },
    handler: async (request) => {
      const { store = CONFIG_STORE, key } = request.params;
      const [value] = await context.broker(request).storeGet(store, [key]);
      if (value !== undefined) return { key, value };
      const details = { field: "key" };
      throw new SluiceError("NOT_FOUND", `store ${store} has nothing under ${key}`, details);
    },
  });
  app.route<OnEntry & { Body: { value: unknown } }>({
    method: "PUT",
    url,
    config: { body: MEMBERS },
    bodyLimit: VALUE_BODY_BYTES_MAX,
    schema: {
      ...about("put", "Sets"),
      body: object({ value: ANYTHING }, ["value"]),
      response: DONE,
    },
    handler: async (request, reply) => {
      const { store = CONFIG_STORE, key } = request.params;
      const { value } = request.body;
      checkDepth("value", value);
      await context.broker(request).storeWrite(store, [{ key, value }], operationOf(request));
      return reply.code(204).send();
    },
  });
  app.route<OnEntry>({
    method: "DELETE",
    url,
    schema: { ...about("delete", "Removes"), response: DONE },
    handler: async (request, reply) => {
      const { store = CONFIG_STORE, key } = request.params;
      const entry = { key, value: undefined };
      await context.broker(request).storeWrite(store, [entry], operationOf(request));
      return reply.code(204).send();
    },
  });
}
