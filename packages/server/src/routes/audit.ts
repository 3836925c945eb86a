import type { FastifyInstance } from "fastify";
import { type AuditEntry, refuseAudit } from "../audit/audit-log.ts";
import { allowsAll } from "../keys/grant.ts";
import { AUDIT_PAGE_MAX } from "../limits.ts";
import type { RouteContext } from "./context.ts";
import { route } from "./route.ts";
import { about, answers, COUNT, limit, list, maybe, object, shape, TEXT, TIME } from "./shapes.ts";

const ENTRY = shape<AuditEntry>({
  id: TEXT,
  at: TIME,
  who: about("The id of the key, or the user of another server.", TEXT),
  name: maybe(about("The name of the key.", TEXT)),
  via: { type: "string", enum: ["page", "command", "http", "stream"] },
  action: about("The call, such as `purge`.", TEXT),
  on: about("What it was about: a queue, gate, job, key.", TEXT),
  detail: about("Its arguments and options as JSON, without payloads.", TEXT),
  times: about("How often within a second.", COUNT),
  refused: maybe(about("How many of these were refused.", COUNT)),
  error: maybe(about("Why the last of them was refused.", TEXT)),
});

interface Query {
  limit?: number;
  cursor?: string;
  text?: string;
}

export function auditRoutes(app: FastifyInstance, { audit }: RouteContext): void {
  route<{ Querystring: Query }>(app, "GET /v1/audit", {
    about: ["audit", "keys", "Who did what and when, the newest first"],
    description:
      "Every action on the page and by the command line, and what other programs delete, purge, " +
      "redrive or do with many jobs. It needs `admin` on everything.",
    querystring: object({
      limit: limit(AUDIT_PAGE_MAX),
      cursor: TEXT,
      text: about("Part of who, what or on what.", TEXT),
    }),
    response: answers(object({ items: list(ENTRY), cursor: TEXT }, ["items"])),
    handler: async ({ principal, query }) => {
      principal.charge();
      if (!allowsAll(principal.grants(), "admin")) throw refuseAudit();
      return audit.log.list(query);
    },
  });
}
