import type { FastifyInstance, FastifyRequest } from "fastify";
import { forbidden } from "../keys/grant.ts";
import { GRANT_GATES_MAX } from "../limits.ts";
import type { RouteContext } from "./context.ts";
import { answers, DONE, ERROR, list, NUMBER, object, type Schema, TEXT, TIME } from "./shapes.ts";

const GRANT: Schema = object(
  {
    action: { type: "string", enum: ["produce", "consume", "admin"] },
    on: { type: "string", description: "A queue, a prefix that ends in `*`, or `*`." },
    gates: list(TEXT, {
      maxItems: GRANT_GATES_MAX,
      description:
        "Gates, prefixes that end in `*`, or `*`: jobs may name only these, and the key may cool " +
        "them. Absent: jobs may name any gate, and the key may cool none (`admin` on `*`: all).",
    }),
  },
  ["action", "on"],
);

const CHANGE: Readonly<Record<string, Schema>> = {
  name: { type: "string", description: "For people." },
  grants: list(GRANT, { minItems: 1 }),
  requestsPerSecond: NUMBER,
};

const FIELDS: Readonly<Record<string, Schema>> = { ...CHANGE, expiresAt: TIME };

const INFO: Readonly<Record<string, Schema>> = {
  id: TEXT,
  ...FIELDS,
  createdAt: TIME,
  createdBy: TEXT,
};

export function keyRoutes(app: FastifyInstance, context: RouteContext): void {
  app.route({
    method: "GET",
    url: "/v1/keys",
    schema: {
      operationId: "listKeys",
      summary: "The keys that you could have made",
      tags: ["keys"],
      response: answers(object({ items: list(object(INFO)) }, ["items"])),
    },
    handler: async (request) => ({ items: context.keys().list(enter(request)) }),
  });
  app.route({
    method: "POST",
    url: "/v1/keys",
    schema: {
      operationId: "createKey",
      summary: "Make a key: it is shown this once",
      description: "A key gets no more permissions than its maker has, and no longer.",
      tags: ["keys"],
      body: object(FIELDS, ["grants"]),
      response: {
        201: { description: "Made.", ...object({ ...INFO, key: TEXT }, ["id", "key"]) },
        "4xx": ERROR,
        "5xx": ERROR,
      },
    },
    handler: async (request, reply) => {
      const created = await context.keys().create(request.body, enter(request));
      return reply.code(201).send(created);
    },
  });
  app.route<{ Params: { id: string } }>({
    method: "PUT",
    url: "/v1/keys/:id",
    schema: {
      operationId: "setKey",
      summary: "Change what a key may do; its secret stays",
      description:
        "It counts at once, on open connections and for calls that wait too. A key can change " +
        "only keys that it could have made itself, and can give no more than it has.",
      tags: ["keys"],
      params: object({ id: { type: "string", maxLength: 64 } }, ["id"]),
      body: object(CHANGE, ["grants"]),
      response: answers(object(INFO)),
    },
    handler: (request) => context.keys().set(request.params.id, request.body, enter(request)),
  });
  app.route<{ Params: { id: string } }>({
    method: "DELETE",
    url: "/v1/keys/:id",
    schema: {
      operationId: "revokeKey",
      summary: "Revoke a key: its next request is refused, on open connections too",
      tags: ["keys"],
      params: object({ id: { type: "string", maxLength: 64 } }, ["id"]),
      response: DONE,
    },
    handler: async (request, reply) => {
      await context.keys().revoke(request.params.id, enter(request));
      return reply.code(204).send();
    },
  });
}

/** Keys are for those who run a place, be it a small one. */
function enter({ principal }: FastifyRequest): FastifyRequest["principal"] {
  principal.charge();
  if (principal.grants().some(({ action }) => action === "admin")) return principal;
  throw forbidden("admin", "a queue");
}
