import { type ScanOptions, SluiceError } from "@sluice/protocol";
import type { FastifyInstance } from "fastify";
import { MEMBERS } from "../body/parse-body.ts";
import { CONFIG_STORE } from "../keys/stores.ts";
import { VALUE_BODY_BYTES_MAX } from "../limits.ts";
import type { RouteContext } from "./context.ts";
import { checkDepth } from "./held.ts";
import { ANYTHING, answers, DONE, object, type Schema, TEXT } from "./shapes.ts";
import { ENTRIES, SCAN } from "./stores.ts";

const KEY: Schema = object({ key: { type: "string", minLength: 1, maxLength: 1024 } }, ["key"]);

const ENTRY: Schema = object({ key: TEXT, value: ANYTHING }, ["key", "value"]);

interface OnEntry {
  Params: { key: string };
}

/** The small key-value store that policies read. */
export function configRoutes(app: FastifyInstance, context: RouteContext): void {
  app.route<{ Querystring: ScanOptions }>({
    method: "GET",
    url: "/v1/config",
    schema: {
      operationId: "listConfig",
      summary: "A page of the values that policies read, by key",
      tags: ["config"],
      querystring: SCAN,
      response: answers(ENTRIES),
    },
    handler: (request) => context.broker(request).storeScan(CONFIG_STORE, request.query),
  });
  app.route<OnEntry>({
    method: "GET",
    url: "/v1/config/:key",
    schema: {
      operationId: "getConfig",
      summary: "A value that policies read",
      tags: ["config"],
      params: KEY,
      response: answers(ENTRY),
    },
    handler: async (request) => {
      const { key } = request.params;
      const [value] = await context.broker(request).storeGet(CONFIG_STORE, [key]);
      if (value !== undefined) return { key, value };
      throw new SluiceError("NOT_FOUND", `there is no value under ${key}`, { field: "key" });
    },
  });
  app.route<OnEntry & { Body: { value: unknown } }>({
    method: "PUT",
    url: "/v1/config/:key",
    config: { body: MEMBERS },
    bodyLimit: VALUE_BODY_BYTES_MAX,
    schema: {
      operationId: "setConfig",
      summary: "Set a value that policies read",
      tags: ["config"],
      params: KEY,
      body: object({ value: ANYTHING }, ["value"]),
      response: DONE,
    },
    handler: async (request, reply) => {
      const { value } = request.body;
      checkDepth("value", value);
      const entry = { key: request.params.key, value };
      await context.broker(request).storeWrite(CONFIG_STORE, [entry]);
      return reply.code(204).send();
    },
  });
  app.route<OnEntry>({
    method: "DELETE",
    url: "/v1/config/:key",
    schema: {
      operationId: "deleteConfig",
      summary: "Remove a value",
      tags: ["config"],
      params: KEY,
      response: DONE,
    },
    handler: async (request, reply) => {
      const entry = { key: request.params.key, value: undefined };
      await context.broker(request).storeWrite(CONFIG_STORE, [entry]);
      return reply.code(204).send();
    },
  });
}
