import { ACTIONS, KEY_ROLES } from "@sluice/protocol";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { forbidden } from "../keys/grant.ts";
import { GRANT_GATES_MAX } from "../limits.ts";
import { type RouteContext, withEntry } from "./context.ts";
import { route } from "./route.ts";
import {
  answers,
  DONE,
  list,
  NUMBER,
  object,
  refusable,
  type Schema,
  TEXT,
  TIME,
} from "./shapes.ts";

const GRANT: Schema = object(
  {
    action: { type: "string", enum: [...ACTIONS] },
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

/** In place of grants. */
const ROLE: Readonly<Record<string, Schema>> = {
  role: {
    type: "string",
    enum: [...KEY_ROLES],
    description: "In place of `grants`: `viewer` reads, `operator` acts on jobs, `admin` does all.",
  },
  on: { type: "string", description: "The queues of the role; default `*`." },
};

const FIELDS: Readonly<Record<string, Schema>> = { ...CHANGE, expiresAt: TIME };

const INFO: Readonly<Record<string, Schema>> = {
  id: TEXT,
  ...FIELDS,
  createdAt: TIME,
  createdBy: TEXT,
};

export function keyRoutes(app: FastifyInstance, context: RouteContext): void {
  route(app, "GET /v1/keys", {
    about: ["listKeys", "keys", "The keys that you could have made"],
    response: answers(object({ items: list(object(INFO)) }, ["items"])),
    handler: async (request) => ({ items: context.keys().list(enter(request)) }),
  });
  route(app, "POST /v1/keys", {
    about: ["createKey", "keys", "Make a key: it is shown this once"],
    description: "A key gets no more permissions than its maker has, and no longer.",
    body: object({ ...FIELDS, ...ROLE }),
    response: refusable({
      201: { description: "Made.", ...object({ ...INFO, key: TEXT }, ["id", "key"]) },
    }),
    handler: async (request, reply) => {
      const by = enter(request);
      const { name = "" } = request.body as { name?: string };
      const act = () => context.keys().create(request.body, by);
      const told = ["createKey", name || "*", JSON.stringify(request.body)] as const;
      const created = await withEntry(context, request, told, act);
      return reply.code(201).send(created);
    },
  });
  route<{ Params: { id: string } }>(app, "PUT /v1/keys/:id", {
    about: ["setKey", "keys", "Change what a key may do; its secret stays"],
    description:
      "It counts at once, on open connections and for calls that wait too. A key can change " +
      "only keys that it could have made itself, and can give no more than it has.",
    body: object({ ...CHANGE, ...ROLE }),
    response: answers(object(INFO)),
    handler: (request) => {
      const by = enter(request);
      const { id } = request.params;
      return withEntry(context, request, ["setKey", id, JSON.stringify(request.body)], () =>
        context.keys().set(id, request.body, by),
      );
    },
  });
  const revoke = "Revoke a key: its next request is refused, on open connections too";
  route<{ Params: { id: string } }>(app, "DELETE /v1/keys/:id", {
    about: ["revokeKey", "keys", revoke],
    response: DONE,
    handler: async (request, reply) => {
      const by = enter(request);
      const { id } = request.params;
      await withEntry(context, request, ["revokeKey", id], () => context.keys().revoke(id, by));
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
