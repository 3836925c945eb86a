/** Keys of submitters, for operators: making, listing and revoking them. */
import type { FastifyRequest } from "fastify";
import { SluiceError } from "sluice";
import type { HttpApp } from "sluice/http";
import type { JobServer } from "./job-server.ts";
import { WORKER_ID_BYTES_MAX } from "./limits.ts";
import { parseWorkerId } from "./submission.ts";

interface NewKey {
  Body: { worker_id: string; tier?: string };
}

export function keyRoutes(app: HttpApp, server: JobServer): void {
  const { keys, config } = server;
  app.post<NewKey>(
    "/keys",
    { schema: { ...about("createKey", "Make a submitter's key"), body: NEW_KEY } },
    async (request, reply) => {
      enter(request);
      if (config.apiKey === undefined) {
        const message = "set API_KEY first: without it the server asks for no keys";
        throw new SluiceError("CONFLICT", message);
      }
      const { worker_id, tier } = request.body;
      if (tier !== undefined && !server.isTier(tier)) {
        const known = config.tiers.map(({ name }) => name).join(", ");
        const message = `tier must be one of ${known}, got ${JSON.stringify(tier)}`;
        throw new SluiceError("INVALID", message, { field: "tier", value: tier });
      }
      return reply.code(201).send(await keys.create(parseWorkerId(worker_id)!, tier));
    },
  );
  app.get("/keys", { schema: about("listKeys", "The keys of submitters") }, (request) => {
    enter(request);
    return { keys: keys.list };
  });
  app.delete<{ Params: { id: string } }>(
    "/keys/:id",
    { schema: about("revokeKey", "Revoke a submitter's key") },
    async (request, reply) => {
      enter(request);
      await keys.revoke(request.params.id);
      return reply.code(204).send();
    },
  );
}

function enter({ principal }: FastifyRequest): void {
  if (principal.grants().length > 0) return;
  throw new SluiceError("FORBIDDEN", "keys are made and revoked with API_KEY alone");
}

const NEW_KEY = {
  type: "object",
  required: ["worker_id"],
  additionalProperties: false,
  properties: {
    worker_id: { type: "string", minLength: 1, maxLength: WORKER_ID_BYTES_MAX },
    tier: { type: "string", minLength: 1, maxLength: 64 },
  },
};

function about(operationId: string, summary: string): object {
  return { operationId, summary, tags: ["keys"] };
}
