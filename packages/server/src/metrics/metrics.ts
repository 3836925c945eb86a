import type { FastifyInstance } from "fastify";
import type { Registry } from "prom-client";
import { forbidden } from "../keys/grant.ts";
import { route } from "../routes/route.ts";
import { content } from "../routes/shapes.ts";

/** `read` is called for each answer; calls that come while one is made share it. */
export function metricRoutes(app: FastifyInstance, read: () => Promise<Registry>): void {
  let answer: Promise<{ type: string; text: string }> | undefined;
  const make = async () => {
    const registry = await read();
    return { type: registry.contentType, text: await registry.metrics() };
  };
  route(app, "GET /metrics", {
    about: ["getMetrics", "health", "Figures for Prometheus"],
    response: content("text/plain", "In the text format of Prometheus."),
    handler: async ({ principal }, reply) => {
      // They name queues and lanes: only for callers that may see all of them.
      if (!principal.grants().some(({ on }) => on === "*")) throw forbidden("consume", "*");
      answer ??= make().finally(() => {
        answer = undefined;
      });
      const { type, text } = await answer;
      return reply.type(type).send(text);
    },
  });
}
