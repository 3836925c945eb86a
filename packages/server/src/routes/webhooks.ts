import { EVENT_NAMES } from "@sluice/protocol";
import type { FastifyInstance } from "fastify";
import { END_STATES } from "../webhooks/webhook.ts";
import { type RouteContext, withEntry } from "./context.ts";
import { route } from "./route.ts";
import {
  about,
  answers,
  COUNT,
  DONE,
  list,
  object,
  refusable,
  type Schema,
  TEXT,
  TIME,
} from "./shapes.ts";

const ASKED: Readonly<Record<string, Schema>> = {
  url: about("Where messages are posted to.", TEXT),
  name: about("For people.", TEXT),
  events: about(
    "What it is called for; default `dead`.",
    list({ type: "string", enum: [...EVENT_NAMES] }),
  ),
  queues: about("Names, or prefixes that end in `*`; default all.", list(TEXT)),
  states: about(
    "Of jobs that `ended`, only those that ended so; default all.",
    list({ type: "string", enum: [...END_STATES] }),
  ),
};

const INFO = { id: TEXT, ...ASKED, createdAt: TIME, createdBy: TEXT };

const LISTED = {
  ...INFO,
  stopped: about("Why it is called no more: the key that made it has lost its rights.", TEXT),
  dropped: about(
    "Messages dropped because too many of its messages waited, and when the last was.",
    object({ count: COUNT, lastAt: TIME }),
  ),
};

/** Without its path, which may hold a secret: entries last longer than webhooks. */
function hostOf(url: unknown): string {
  return URL.parse(String(url))?.host ?? "";
}

export function webhookRoutes(app: FastifyInstance, context: RouteContext): void {
  const { webhooks } = context;
  route(app, "GET /v1/webhooks", {
    about: ["listWebhooks", "webhooks", "The webhooks that you could have made"],
    response: answers(object({ items: list(object(LISTED)) }, ["items"])),
    handler: async ({ principal }) => {
      principal.charge();
      return { items: await webhooks.list(principal) };
    },
  });
  route(app, "POST /v1/webhooks", {
    about: ["createWebhook", "webhooks", "Make a webhook: its secret is shown this once"],
    description:
      "It takes `admin` on the queues that it names. Addresses must be public, unless the " +
      "server's `webhookHosts` lists their hosts.",
    body: object(ASKED, ["url"]),
    response: refusable({
      201: { description: "Made.", ...object({ ...INFO, secret: TEXT }, ["id", "secret"]) },
    }),
    handler: async (request, reply) => {
      const { principal, body } = request;
      principal.charge();
      const host = hostOf((body as { url: string }).url);
      const act = () => webhooks.create(body, principal);
      return reply.code(201).send(await withEntry(context, request, ["createWebhook", host], act));
    },
  });
  route<{ Params: { id: string } }>(app, "DELETE /v1/webhooks/:id", {
    about: ["deleteWebhook", "webhooks", "Delete a webhook; messages that wait are given up"],
    response: DONE,
    handler: async (request, reply) => {
      const { principal, params } = request;
      principal.charge();
      const act = () => webhooks.delete(params.id, principal);
      await withEntry(context, request, ["deleteWebhook", params.id], act);
      return reply.code(204).send();
    },
  });
  route<{ Params: { id: string } }>(app, "POST /v1/webhooks/:id/test", {
    about: ["testWebhook", "webhooks", "Send a message of type `test`; answers its job"],
    response: answers(object({ job: TEXT }, ["job"])),
    handler: async (request) => {
      const { principal, params } = request;
      principal.charge();
      const act = () => webhooks.test(params.id, principal);
      return { job: await withEntry(context, request, ["testWebhook", params.id], act) };
    },
  });
}
