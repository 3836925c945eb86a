/** The keyed stores beside the queues. A store is governed like a queue of its name. */
import { type ScanOptions, SluiceError, type StoreEntry } from "@sluice/protocol";
import type { FastifyInstance } from "fastify";
import { BodyShape, MEMBERS } from "../body/parse-body.ts";
import { BATCH_MAX, BODY_BYTES_HARD_MAX, STORE_PAGE_MAX, VALUE_BODY_BYTES_MAX } from "../limits.ts";
import type { RouteContext } from "./context.ts";
import { checkDepth } from "./held.ts";
import {
  ANYTHING,
  answers,
  CURSOR,
  DONE,
  limit,
  list,
  NAME,
  object,
  page,
  type Schema,
  TEXT,
} from "./shapes.ts";

const STORE: Schema = object({ store: NAME }, ["store"]);

const KEY: Schema = { type: "string", minLength: 1, maxLength: 1024 };

const ENTRY: Schema = object({ key: TEXT, value: ANYTHING }, ["key", "value"]);

/** A page of the entries under a prefix. */
export const SCAN: Schema = object({
  prefix: { type: "string", maxLength: 1024 },
  limit: limit(STORE_PAGE_MAX),
  cursor: CURSOR,
});

export const ENTRIES: Schema = page(ENTRY);

const BATCH = new BodyShape({ items: "entries" });

interface OnStore {
  Params: { store: string };
}

interface OnEntry {
  Params: { store: string; key: string };
}

export function storeRoutes(app: FastifyInstance, context: RouteContext): void {
  app.route<OnStore & { Querystring: ScanOptions }>({
    method: "GET",
    url: "/v1/stores/:store",
    schema: {
      operationId: "scanStore",
      summary: "A page of the entries of a store, by key",
      tags: ["stores"],
      params: STORE,
      querystring: SCAN,
      response: answers(ENTRIES),
    },
    handler: (request) => context.broker(request).storeScan(request.params.store, request.query),
  });
  app.route<OnStore & { Body: { entries: readonly StoreEntry[] } }>({
    method: "POST",
    url: "/v1/stores/:store",
    config: { body: BATCH },
    bodyLimit: BODY_BYTES_HARD_MAX,
    schema: {
      operationId: "writeStore",
      summary: "Set and delete entries, all or none",
      description: "An entry without a value is deleted.",
      tags: ["stores"],
      params: STORE,
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
      await context.broker(request).storeWrite(request.params.store, written);
      return reply.code(204).send();
    },
  });
  entryRoutes(app, context);
}

function entryRoutes(app: FastifyInstance, context: RouteContext): void {
  const params = object({ store: NAME, key: KEY }, ["store", "key"]);
  app.route<OnEntry>({
    method: "GET",
    url: "/v1/stores/:store/:key",
    schema: {
      operationId: "getStored",
      summary: "A value of a store",
      tags: ["stores"],
      params,
      response: answers(ENTRY),
    },
    handler: async (request) => {
      const { store, key } = request.params;
      const [value] = await context.broker(request).storeGet(store, [key]);
      if (value !== undefined) return { key, value };
      throw new SluiceError("NOT_FOUND", `store ${store} has nothing under ${key}`, {
        field: "key",
      });
    },
  });
  app.route<OnEntry & { Body: { value: unknown } }>({
    method: "PUT",
    url: "/v1/stores/:store/:key",
    config: { body: MEMBERS },
    bodyLimit: VALUE_BODY_BYTES_MAX,
    schema: {
      operationId: "putStored",
      summary: "Set a value of a store",
      tags: ["stores"],
      params,
      body: object({ value: ANYTHING }, ["value"]),
      response: DONE,
    },
    handler: async (request, reply) => {
      const { store, key } = request.params;
      const { value } = request.body;
      checkDepth("value", value);
      await context.broker(request).storeWrite(store, [{ key, value }]);
      return reply.code(204).send();
    },
  });
  app.route<OnEntry>({
    method: "DELETE",
    url: "/v1/stores/:store/:key",
    schema: {
      operationId: "deleteStored",
      summary: "Remove a value of a store",
      tags: ["stores"],
      params,
      response: DONE,
    },
    handler: async (request, reply) => {
      const { store, key } = request.params;
      await context.broker(request).storeWrite(store, [{ key, value: undefined }]);
      return reply.code(204).send();
    },
  });
}
