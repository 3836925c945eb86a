import type { GateConfig, GatesOptions } from "@sluice/protocol";
import type { FastifyInstance } from "fastify";
import { PAGE_MAX } from "../limits.ts";
import type { RouteContext } from "./context.ts";
import {
  answers,
  COUNT,
  CURSOR,
  DONE,
  FLAG,
  limit,
  list,
  MISSING,
  MS,
  NAME,
  NUMBER,
  object,
  type Schema,
  TEXT,
  TIME,
} from "./shapes.ts";

const WINDOW: Schema = object({ limit: COUNT, perMs: MS }, ["limit", "perMs"]);

const INTERVAL: Schema = object(
  {
    ms: MS,
    from: { type: "string", enum: ["start", "end"] },
    factors: list(NUMBER),
    floorMs: MS,
  },
  ["ms"],
);

const CONFIG: Schema = object({
  rate: { type: "number", minimum: 0, description: "A second; 0 closes the gate." },
  burst: NUMBER,
  interval: INTERVAL,
  windows: list(WINDOW),
  concurrency: COUNT,
  ladder: list(MS),
});

const GATE: Schema = object(
  {
    key: TEXT,
    config: CONFIG,
    pattern: TEXT,
    tokens: NUMBER,
    windows: list(object({ limit: COUNT, perMs: MS, used: COUNT })),
    inFlight: COUNT,
    ladderStep: COUNT,
    cooldown: object({ until: TIME, reason: TEXT }),
    opensAt: TIME,
    opensAtByTier: list({ ...TIME, type: ["number", "null"] }),
    part: { ...TEXT, description: "Of its limits, the one that keeps a job of cost 1 now." },
    waitingLanes: COUNT,
    line: list(object({ queue: TEXT, tier: COUNT, lanes: COUNT })),
    missing: MISSING,
  },
  ["key"],
);

const KEY: Schema = object({ key: { type: "string", minLength: 1, maxLength: 256 } }, ["key"]);

interface OnGate {
  Params: { key: string };
}

export function gateRoutes(app: FastifyInstance, context: RouteContext): void {
  const about = (operationId: string, summary: string, response: Schema, body?: Schema) => ({
    operationId,
    summary,
    tags: ["gates"],
    params: KEY,
    ...(body === undefined ? {} : { body }),
    response,
  });
  app.route<OnGate>({
    method: "GET",
    url: "/v1/gates/:key",
    schema: about("getGate", "A gate and its level", answers(GATE)),
    handler: (request) => context.broker(request).gate(request.params.key),
  });
  app.route<OnGate & { Body: GateConfig }>({
    method: "PUT",
    url: "/v1/gates/:key",
    schema: about(
      "setGate",
      "Set the limits of a gate, or of all under a pattern",
      answers(GATE),
      CONFIG,
    ),
    handler: (request) => context.broker(request).setGate(request.params.key, request.body),
  });
  app.route<OnGate>({
    method: "DELETE",
    url: "/v1/gates/:key",
    schema: about("deleteGate", "Remove the limits: what waited goes on", DONE),
    handler: async (request, reply) => {
      await context.broker(request).deleteGate(request.params.key);
      return reply.code(204).send();
    },
  });
  app.route<{ Querystring: GatesOptions }>({
    method: "GET",
    url: "/v1/gates",
    schema: {
      operationId: "listGates",
      summary: "A page of the gates, by key or those first in whose line most wait",
      tags: ["gates"],
      querystring: object({
        search: { type: "string", maxLength: 256 },
        queue: { ...NAME, description: "Only those in whose line its lanes stand." },
        sort: { type: "string", enum: ["key", "waiting"] },
        limit: limit(PAGE_MAX),
        cursor: CURSOR,
      }),
      response: answers(
        object({ gates: list(GATE), total: COUNT, cursor: TEXT, missing: MISSING }, [
          "gates",
          "total",
        ]),
      ),
    },
    handler: async (request) => {
      const { items: gates, ...rest } = await context.broker(request).gates(request.query);
      return { gates, ...rest };
    },
  });
  cooldownRoutes(app, context, about);
}

function cooldownRoutes(
  app: FastifyInstance,
  context: RouteContext,
  about: (operationId: string, summary: string, response: Schema, body?: Schema) => object,
): void {
  app.route<OnGate & { Body: { ms: number; reason?: string } }>({
    method: "POST",
    url: "/v1/gates/:key/cooldown",
    schema: about(
      "coolGate",
      "Close a gate for a while; a cooldown never gets shorter",
      DONE,
      object({ ms: MS, reason: { type: "string", maxLength: 1024 } }, ["ms"]),
    ),
    handler: async (request, reply) => {
      const { ms, reason } = request.body;
      await context.broker(request).cooldown(request.params.key, ms, reason);
      return reply.code(204).send();
    },
  });
  app.route<OnGate>({
    method: "DELETE",
    url: "/v1/gates/:key/cooldown",
    schema: about("clearCooldown", "End a cooldown by hand", DONE),
    handler: async (request, reply) => {
      await context.broker(request).clearCooldown(request.params.key);
      return reply.code(204).send();
    },
  });
  app.route<OnGate & { Body: { ok: boolean } }>({
    method: "POST",
    url: "/v1/gates/:key/report",
    schema: about(
      "reportGate",
      "Report a success or a failure to a gate's ladder",
      DONE,
      object({ ok: FLAG }, ["ok"]),
    ),
    handler: async (request, reply) => {
      await context.broker(request).reportGate(request.params.key, request.body.ok);
      return reply.code(204).send();
    },
  });
}
