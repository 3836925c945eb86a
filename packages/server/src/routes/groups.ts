import type { FastifyInstance } from "fastify";
import type { RouteContext } from "./context.ts";
import { answers, DONE, FLAG, list, NAME, object, type Schema, TEXT } from "./shapes.ts";

export interface OnGroup {
  Params: { queue: string; group: string };
}

export const GROUP_PARAMS: Schema = object({ queue: NAME, group: NAME }, ["queue", "group"]);

const MEMBER = object({ id: TEXT, state: TEXT }, ["id"]);

export const GROUP_INFO: Schema = object({ id: TEXT, ended: FLAG, members: list(MEMBER) }, [
  "id",
  "ended",
  "members",
]);

/** Jobs that were submitted together. A group belongs to the queue that its address names. */
export function groupRoutes(app: FastifyInstance, context: RouteContext): void {
  app.route<OnGroup>({
    method: "GET",
    url: "/v1/groups/:queue/:group",
    schema: {
      operationId: "getGroup",
      summary: "The members of a group and how they ended",
      tags: ["jobs"],
      params: GROUP_PARAMS,
      response: answers(GROUP_INFO),
    },
    handler: (request) => context.broker(request).group(nameOf(request.params)),
  });
  app.route<OnGroup>({
    method: "POST",
    url: "/v1/groups/:queue/:group/release",
    schema: {
      operationId: "releaseGroup",
      summary: "No more members join a held group: it ends with its last member",
      tags: ["jobs"],
      params: GROUP_PARAMS,
      response: DONE,
    },
    handler: async (request, reply) => {
      await context.broker(request).releaseGroups([nameOf(request.params)]);
      return reply.code(204).send();
    },
  });
}

export function nameOf({ queue, group }: OnGroup["Params"]): string {
  return `${queue}/${group}`;
}
